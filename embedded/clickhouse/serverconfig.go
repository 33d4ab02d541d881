package clickhouse

import (
	"bytes"
	"embed"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed config.xml.tmpl users.xml.tmpl
var templates embed.FS

// writeServerConfig makes the engine's configuration files anew: ports change from start to start.
func writeServerConfig(config Config) error {
	if err := os.MkdirAll(filepath.Dir(config.logPath()), 0o700); err != nil {
		return fmt.Errorf("make log directory: %w", err)
	}
	values := map[string]string{
		"Users":    config.usersPath(),
		"Log":      config.logPath(),
		"ErrorLog": filepath.Join(filepath.Dir(config.logPath()), "clickhouse.err.log"),
		"Kafka":    config.Kafka,
	}
	for key, value := range values {
		var escaped bytes.Buffer
		if err := xml.EscapeText(&escaped, []byte(value)); err != nil {
			return fmt.Errorf("write server configuration: %w", err)
		}
		values[key] = escaped.String()
	}
	all, err := template.ParseFS(templates, "*.tmpl")
	if err != nil {
		return fmt.Errorf("read server configuration: %w", err)
	}
	for name, path := range map[string]string{"config.xml.tmpl": config.configPath(), "users.xml.tmpl": config.usersPath()} {
		var text bytes.Buffer
		if err := all.ExecuteTemplate(&text, name, values); err != nil {
			return fmt.Errorf("write server configuration: %w", err)
		}
		if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
			return fmt.Errorf("write server configuration: %w", err)
		}
	}
	return nil
}
