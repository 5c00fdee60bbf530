int main() { return not_written_yet(); }
