// Command topk is the whole of topk in one binary: the services, the embedded engines, and the tools around them.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run()) }

// run returns the exit code.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := rootCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "topk:", err)
		return 1
	}
	return 0
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "topk",
		Short:         "The most viewed items of the last minute, hour or month, or of all time, and how sure we are",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(
		devCommand(),
		demoCommand(),
		ingestCommand(),
		rollupCommand(),
		recountCommand(),
		verifyCommand(),
		chartCommand(),
		apiCommand(),
		migrateCommand(),
		replayCommand(),
		loadCommand(),
		topCommand(),
		gradesCommand(),
	)
	return root
}
