# A text of the reader's.
mkdir -p build/cpu
head -c 300000 data/tinyshakespeare.txt >build/cpu/text.txt
