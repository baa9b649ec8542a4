package diag

// distance is the number of letters to put in, take out, change or swap with their neighbours that make of one word the
// other; every answer beyond most means "more than most".
func distance(a, b []rune, most int) int {
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(a)-len(b) > most {
		return most + 1
	}
	// The rows of the usual table: for two letters ago, one letter ago and now.
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > most+1 {
			return most + 1 // a swap reaches back over one row at most
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
