{ printf "%-20s %8.2f\n", $1, $2 }
