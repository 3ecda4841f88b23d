package plan

import "strings"

// Nearest is the known name that the fewest changes of single characters make of name, and how many. Upper and lower case
// are the same. Of names that are equally near it is the first; without known names it is empty.
func Nearest(name string, known []string) (nearest string, changes int) {
	name = strings.ToLower(name)
	for i, k := range known {
		if d := distance(name, strings.ToLower(k)); i == 0 || d < changes {
			nearest, changes = k, d
		}
	}
	return nearest, changes
}

// distance is how many bytes must be changed, added or removed to make one text the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
