"""Read data on disk as a stream of Arrow batches.

    request      paths, format and options, as the user gave them
    files        the files that these paths, globs and folders stand for
    known        the formats that can be read
    formats      the format and the compression of each file
    archives, tables
                 the file of an archive that is read, and the table of a file
    delimited, json_lines, parquet, arrow_ipc, sqlite, duck_file, excel, lines, folders, query
                 one reader per kind of data: its columns, and its rows in order
    exact        types of numbers and dates that hold every row of a text file
    duck         the DuckDB connection that most readers use
    batches      regroup rows into batches of a fixed size
    open, source an opened source, and how it is put together

DuckDB and pyarrow are imported only when a source is opened.
"""
