package list

// CertifiedTo says whether it is proven that no item outside the first k positions belongs in them.
func (l *List) CertifiedTo(k int) bool {
	if k >= len(l.Items) {
		return l.Certified
	}
	last := l.Items[k-1].Count
	return last >= l.Floor
}
