# lists.sh FOLDER: what AMD's library lists of each variant of the save areas of made.h, by FOLDER/core and FOLDER/judge; a list
# once, below the variants ("made GPU xccs=N abi=N placed=0|1") that have it.
# shellcheck shell=dash
set -eu
bin=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# abi: the version of r_debug, of which the library knows 8 to 10; placed: ttmps are set up.
variants() {
	for g in gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102 gfx1200 gfx1201; do echo "$g xccs=1 abi=10 placed=1"; done
	for x in 4 8; do echo "gfx942 xccs=$x abi=10 placed=1"; done
	for g in gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1200; do
		for a in "8 placed=1" "9 placed=1" "9 placed=0" "10 placed=0"; do echo "$g xccs=1 abi=$a"; done
	done
}

variants > "$work/variants"
while read -r v; do
	"$bin/core" "$v" > "$work/core"
	"$bin/judge" "$work/core" > "$work/list"
	LC_ALL=C sort "$work/list" > "$work/sorted"
	name=$work/$(sha256sum < "$work/sorted" | cut -c1-16)
	[ -e "$name" ] || echo "$name" >> "$work/order"
	echo "made $v" >> "$name.made"
	mv "$work/sorted" "$name"
done < "$work/variants"
while read -r name; do cat "$name.made" "$name"; done < "$work/order"
