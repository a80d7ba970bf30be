#!/usr/bin/bash
# The command `date` in the sandbox: its present is the world's.
present="@${WORLD_TIME:-$EPOCHSECONDS}"
previous=
for word; do
  case $word in
    -d | --date) ;;
    -d?*) text=${word#-d} ;;
    --date=*) text=${word#--date=} ;;
    -r | -f | -r?* | -f?* | --reference* | --file*) exec /usr/libexec/date "$@" ;;
    *) case $previous in -d | --date) text=$word ;; *) kept+=("$word") ;; esac ;;
  esac
  previous=$word
done
if [[ -z ${text+given} ]]; then
  exec /usr/libexec/date -d "$present" "${kept[@]}"
fi
# Relative to the present, such as "yesterday"; or if that makes no sense, a date of its own.
base=$(/usr/libexec/date -d "$present" '+%F %T')
/usr/libexec/date -d "$base $text" "${kept[@]}" 2>/dev/null || exec /usr/libexec/date -d "$text" "${kept[@]}"
