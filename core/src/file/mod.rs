//! Files: locks, atomic replacement, kinds of file system. Nothing about contents.
