"""What is run in `main` with its `sh` to start a terminal, to type into it and to look at it. Nothing of a model's or a
task's text is ever a part of a script: it comes on standard input."""

from __future__ import annotations

HEAD = """
tmux=$1 socket=$2; shift 2
t() { "$tmux" -u -S "$socket" "$@"; }
children() { found=unknown; read -r found 2>/dev/null < "/proc/$1/task/$1/children"; }
"""

INPUTRC = """# The terminal of an agent: every byte arrives as it was sent.
set input-meta on
set output-meta on
set convert-meta off
set disable-completion on
set enable-bracketed-paste off
set bell-style none
"""

START = """
tmux=$1 token=$2 conf=$3 columns=$4 rows=$5 history=$6
place=
for base in /dev/shm /tmp /run /var/tmp /logs/agent; do
  if (umask 077; mkdir "$base/.trialdeck-$token") 2>/dev/null; then place=$base/.trialdeck-$token; break; fi
done
if [ -z "$place" ]; then
  echo "none of /dev/shm, /tmp, /run, /var/tmp and /logs/agent can be written to" >&2
  exit 91
fi
shell=$(command -v bash) && run="exec $shell +H" || { shell=/bin/sh; run="exec /bin/sh"; }
if [ ! -x "$shell" ]; then echo "there is neither bash nor /bin/sh" >&2; exit 92; fi
cat > "$place/inputrc"
mkfifo -m 600 "$place/output" 2>/dev/null || mkfifo "$place/output" 2>/dev/null
set --
[ ! -p "$place/output" ] || set -- \\; pipe-pane -t main: "exec cat > $place/output"
if ! "$tmux" -u -S "$place/socket" -f "$conf" start-server \\; \\
  set-option -g history-limit "$history" \\; set-option -g default-shell "$shell" \\; \\
  set-option -g default-terminal screen \\; set-option -g status off \\; \\
  set-environment -g INPUTRC "$place/inputrc" \\; \\
  new-session -d -s main -x "$columns" -y "$rows" "unset TMUX TMUX_PANE; $run" "$@"; then
  "$tmux" -u -S "$place/socket" kill-server 2>/dev/null
  rm -rf "$place"; exit 93
fi
printf '%s\\n%s\\n' "$place" "$shell"
"""
"""Prints the folder with the socket and the shell. The limit of the history is set before the pane is made, which reads
it only then."""

TYPE = (
    HEAD
    + """
children "$(t display-message -p -t main: '#{pane_pid}')"
echo "children $found"
if [ "$1" = long ]; then
  tty=$(t display-message -p -t main: '#{pane_tty}') || exit
  n=25
  while [ $n -gt 0 ] && ! stty -a < "$tty" 2>/dev/null | grep -q -e ' -icanon'; do
    n=$((n - 1)); sleep 0.2 2>/dev/null || sleep 1
  done
  [ $n -gt 0 ] || echo by-lines
fi
t load-buffer -b trialdeck - || exit
t paste-buffer -S -d -b trialdeck -t main: 2>/dev/null || t paste-buffer -d -b trialdeck -t main:
"""
)
"""Newer versions of tmux put control characters of a pasted text into other words unless they are told not to (-S);
older ones don't know the word. A line that is longer than the kernel keeps waits
until somebody reads by characters. Prints what the shell's children were, and perhaps `by-lines`."""

PRESS = (
    HEAD
    + """
children "$(t display-message -p -t main: '#{pane_pid}')"
echo "children $found"
t send-keys -t main: "$@"
"""
)

WAIT = (
    HEAD
    + """
n=$1 pause=$2 known=$3 calm=0 last=
while [ "$n" -gt 0 ]; do
  n=$((n - 1))
  sleep "$pause" 2>/dev/null || sleep 1
  now=$(t display-message -p -t main: '#{pane_pid} #{pane_tty} #{history_size} #{cursor_y} #{cursor_x}') || exit
  set -- $now
  pid=$1 tty=$2 at_prompt=
  if [ "$now" = "$last" ] && read -r stat 2>/dev/null < "/proc/$pid/stat"; then
    set -- ${stat##*) }
    children "$pid"
    if [ "$3" = "$6" ] && [ "$found" = "$known" ] && [ "$found" != unknown ] &&
      stty -a < "$tty" 2>/dev/null | grep -q -e ' -icanon'; then
      at_prompt=1
    fi
  fi
  last=$now
  if [ -n "$at_prompt" ]; then calm=$((calm + 1)); else calm=0; fi
  if [ $calm -ge 2 ]; then echo calm; exit 0; fi
done
echo over
"""
)
"""Prints `calm` as soon as the shell stands at its prompt with nothing left to do: it is the foreground, it has the
same children as before, it reads by characters (as line editors do, and not while a command runs), and nothing moved
twice in a row. In a shell without a line editor that is never known, and all the time is waited."""

LOOK = (
    HEAD
    + """
seen=$1 row=$2 mark=$3
size=$(t display-message -p -t main: '#{history_size}') || exit
start=$((seen - size))
[ $start -le 0 ] || start=0
state="$size #{history_size} #{cursor_y} #{alternate_on}"
if [ "$row" -gt 0 ]; then
  t display-message -p -t main: "$state" \\; capture-pane -p -t main: \\; \\
    display-message -p -t main: "$mark" \\; capture-pane -p -t main: -S $start -E $((start + row - 1)) \\; \\
    display-message -p -t main: "$mark" \\; capture-pane -p -J -t main: -S $((start + row))
else
  t display-message -p -t main: "$state" \\; capture-pane -p -t main: \\; \\
    display-message -p -t main: "$mark" \\; display-message -p -t main: "$mark" \\; \\
    capture-pane -p -J -t main: -S $start
fi
"""
)
"""Prints a line with the lines above the screen as they were assumed and as they are, the cursor's row and whether a
program fills the screen; the screen; the mark; the rows that were seen before; the mark; what came after them."""

END = HEAD + "t pipe-pane -t main:\n"

ASK = HEAD + "t has-session -t main\n"

READ_OUTPUT = 'exec cat "$1"\n'

FIND = "command -v tmux\n"
