cd share
cat <<'TEXT' | sort | uniq > out &
b
a
TEXT
(cd ..; ls share > listed) &
(ls none; true) 2> /dev/null &
wait
mv out sorted
cat sorted
