# ruff: noqa: E501 - the texts that are replaced stand as they are
"""Faults between a table and the block of rows that the curator sums."""

from tests.mutants.mutant import planted

TOGETHER = "rows/test_dask.py::test_a_cluster_brings_the_rows_of_a_unit_together_and_hands_none_out"
BLOCK, LINES, UNITS, CELLS = "formula/block.py", "rows/lines.py", "rows/weighing.py", "rows/cells.py"
CODES = "rows/encode.py"
VARIABLES = "schema/variables.py"
IN_FILES = "rows/test_unit_parts.py::test_in_files_the_rows_weigh_that_do_in_memory_however_they_are_cut"
PARTS_OF_UNITS = "rows/unit_parts.py"
RECORD = "rows/test_csv.py::test_a_line_is_a_record"
LINE = "privacy/test_every_replay.py::test_a_line_that_is_replaced[ols-gram-pure-row]"

MUTANTS = (
    planted(
        "an error shows a label of an index, which may be a value of a record",
        "rows/test_secrets.py::test_no_error_quotes_a_cell_or_a_label",
        (
            "rows/sources.py",
            '"the series of the data have indexes of their own, and',
            'f"the series of the data have indexes of their own ({next(iter(index), None)!r}, ...), and',
        ),
    ),
    planted(
        "an error shows names of fields, which may be keys that stood in cells",
        "rows/test_secrets.py::test_no_error_quotes_a_cell_or_a_label",
        ("rows/sources.py", 'str(dtype).partition("<")[0]', "str(dtype)"),
    ),
    planted(
        "an error shows the cells of which a column was made",
        "rows/test_secrets.py::test_no_error_quotes_a_cell_or_a_label",
        ("rows/sources.py", "not {type(column).__name__}{remedy}", "not {column!r}{remedy}"),
    ),
    planted(
        "one integer of more than 64 bits makes floats of all integers of its chunk",
        ("rows/test_alone.py", "rows/test_units.py"),
        (
            CELLS,
            "    whole = list(map(int, cells))\n",
            "    whole = list(map(int, cells))\n    if any(not -(2**63) <= value < 2**64 for value in whole):\n"
            "        yield _ALL, Numbers(np.array([_nearest(value) for value in whole]))\n        return\n",
        ),
    ),
    planted(
        "degrees Fahrenheit are read as degrees Celsius",
        "formula/test_functions.py::test_stress_has_bounds_where_it_has_a_meaning",
        ("formula/reader.py", '("f", "℉", "fahrenheit")', '("℉",)'),
    ),
    planted(
        "an entry in hours stands beside a time that is converted to days",
        "formula/test_response.py::test_two_times_of_one_unit_are_not_converted_apart",
        ("formula/response.py", "not math.isclose(began[1], ended[1])", "began[1] == math.inf"),
    ),
    planted(
        "the bytes of a file decide whether its rows are kept",
        "rows/test_parts.py::test_how_long_a_record_is_does_not_decide_whether_rows_are_kept",
        ("rows/parts.py", "return 8 * len(piece.asked.columns) * piece.rows", "return piece.stamp.size"),
    ),
    planted(
        "of many levels a number has the code of the next",
        "rows/test_rows.py::test_numbers_have_the_codes_of_their_levels_however_many_these_are",
        (CODES, "np.where(keys[nearest] == values, nearest + 1, 0)", "nearest + 1"),
    ),
    planted(
        "a product about a middle keeps the bounds of the product",
        "formula/test_middles.py::test_spans_are_the_same_and_bounds_hold",
        ("formula/middles.py", "(bounds_of(whole, self._schema),)", "factors[code].bounds"),
    ),
    planted(
        "a coefficient that rests on one that is lost keeps its interval",
        "models/test_about_middles.py::test_what_rests_on_a_lost_coefficient_is_lost",
        ("estimators/engine/finish.py", "found[rests, rests] = np.inf", "found[lost, lost] = np.inf"),
    ),
    planted(
        "lines beside a number of which nothing is estimable say nothing of it",
        "formula/test_identities.py::test_a_number_is_overlooked_where_all_its_columns_are_lost",
        ("formula/layout.py", "(~reads | lost)", "(reads & lost)"),
    ),
    planted(
        "generalised linear models look for squares in their declared bounds",
        "models/test_about_middles.py::test_a_covariate_does_not_take_over_a_square_in_bounds_far_too_wide",
        ("models/glm.py", "likely=design.likely[first:]", "likely=design.bounds[first:]"),
    ),
    planted(
        "a row whose value for the subset is missing counts as inside it",
        "formula/test_subset.py::test_a_row_of_which_it_cannot_be_told_is_outside",
        (
            "formula/beside.py",
            "return inside & np.all([usable(cells[name], schema[name]) for name in self.variables], axis=0)",
            "return inside",
        ),
    ),
    planted(
        "a cell of another row decides whether a row is inside the subset",
        "formula/test_subset.py::test_cells_are_compared_as_they_were_written_and_then_moved_into_their_bounds[csv]",
        (
            "formula/beside.py",
            "for name in self.variables], axis=0)",
            "for name in self.variables])",
        ),
    ),
    planted(
        "a condition compares values that were moved into their bounds",
        "formula/test_subset.py::test_codes_beyond_the_bounds_are_left_out[codes]",
        (
            "formula/beside.py",
            "self._holds.values(cells) > 0.5",
            "self._holds.values({name: np.clip(cells[name], *schema[name].bounds) for name in self.variables}) > 0.5",
        ),
    ),
    planted(
        "a row is at risk in all strata before its own",
        "formula/test_strata.py::test_a_row_is_watched_in_its_own_stratum_alone",
        ("formula/strata.py", "entry=np.maximum(observed.entry + shift, first)", "entry=observed.entry"),
    ),
    planted(
        "a row of a level that is not declared counts in the last stratum",
        "formula/test_strata.py::test_a_row_without_a_declared_level_counts_nothing",
        ("formula/strata.py", "            ok &= (code >= 0) & (code < levels)\n", ""),
    ),
    planted(
        "an infinite cell counts as its bound",
        "formula/test_design.py::test_what_is_no_finite_number_switches_a_row_off",
        (VARIABLES, "np.isfinite(values))", "~np.isnan(values))"),
    ),
    planted(
        "values above their public bounds are taken as they are",
        "formula/test_soundness.py::test_columns_stay_in_their_bounds_and_rows_in_the_radius",
        (BLOCK, "np.clip(values, lower, upper, out=leaf)", "np.fmax(values, lower, out=leaf)"),
    ),
    planted(
        "private values beyond their bounds are read as public ones are",
        "formula/test_soundness.py::test_columns_stay_in_their_bounds_and_rows_in_the_radius",
        (
            BLOCK,
            "names: set[str],\n        clip: bool = True",
            "names: set[str],\n        clip: bool = False",
        ),
    ),
    planted(
        "a missing number is a number",
        "formula/test_wild.py::test_wild_frames_say_nothing",
        (VARIABLES, "np.isfinite(values))", "~np.isinf(values))"),
    ),
    planted(
        "a level that is not declared counts as the first",
        "formula/test_wild.py::test_wild_frames_say_nothing",
        (VARIABLES, "values >= 0 if", "values >= -1 if"),
    ),
    planted(
        "rows that are not valid keep their covariates",
        "formula/test_wild.py::test_wild_frames_say_nothing",
        (
            BLOCK,
            "exog[~ok] = 0.0",
            "exog[~ok] *= 1.0",
        ),
    ),
    planted(
        "a weight above 1",
        "formula/test_soundness.py::test_offsets_and_weights_stay_in_their_bounds",
        (
            "formula/beside.py",
            "np.divide(out, self.bounds[1], out=out)",
            "np.divide(out, 0.5 * self.bounds[1], out=out)",
        ),
    ),
    planted(
        "a word of R's is refused without what to write instead",
        "formula/test_refusals.py",
        (
            "formula/reader.py",
            'if other := _INSTEAD.get(name):\n        raise FormulaError(f"{name!r}',
            'if other := None:\n        raise FormulaError(f"{name!r}',
        ),
    ),
    planted(
        "a line that cannot be read raises (an open quotation mark)",
        LINE,
        (LINES, "lines, self._blank).to_pylist())", "lines, b'').to_pylist())"),
    ),
    planted(
        "a line that cannot be read is left out, so that n tells of it",
        LINE,
        (LINES, "lines, self._blank).to_pylist())", "lines, b'').to_pylist())"),
        (LINES, "if table.num_rows != len(lines):", "if False:"),
        (LINES, "        if len(others):\n", "        if False:\n"),
    ),
    planted(
        "bytes that are no text raise",
        LINE,
        (LINES, "except (UnicodeDecodeError, csv.Error):", "except csv.Error:"),
    ),
    planted(
        "one line with other cells lets all lines be read as blank ones",
        LINE,
        (
            LINES,
            "        return np.asarray(regular)",
            "        return np.full(len(lines), bool(regular.all()))",
        ),
        (LINES, "return read if len(read) == self._width else None", "return None"),
    ),
    planted(
        "a record of a table that is given twice is two rows",
        "rows/test_mistaken_data.py::test_a_table_that_is_given_twice_is_refused",
        ("rows/rows.py", "        if repeated(data):", "        if False:"),
    ),
    planted(
        "a record of a table and of a view of it is two rows",
        "rows/test_twice.py::test_one_table_is_known_again",
        ("rows/rows.py", "< len(keys) or _any_overlap(arrays)", "< len(keys)"),
    ),
    planted(
        "a record is a row of each window over a frame",
        "rows/test_mistaken_data.py::test_windows_hold_a_record_more_than_once_and_are_refused",
        ("rows/sources.py", "io.IOBase, *WINDOWS)", "io.IOBase)"),
    ),
    planted(
        "an open quotation mark reaches into the next plain line",
        RECORD,
        (LINES, "b'\"' not in chunk", "True"),
    ),
    planted(
        "a carriage return in a plain chunk ends a line, so that n tells of it",
        RECORD,
        (LINES, 'if b"\\r" in chunk and table.num_rows != ', "if False and table.num_rows != "),
    ),
    planted(
        "a plain chunk holds null characters",
        RECORD,
        (LINES, "_bytes(chunk).view(np.int8).min() > 0", "_bytes(chunk).view(np.int8).min() >= 0"),
    ),
    planted(
        "a plain chunk holds bytes that are no text",
        RECORD,
        (LINES, 'b"\\0" not in chunk and is_text(chunk)', 'b"\\0" not in chunk'),
    ),
    planted(
        "a long field is missing where another line sends its chunk to Python's csv",
        "rows/test_csv.py::test_a_field_may_be_long_whatever_stands_beside_its_line",
        (
            LINES,
            "        return line.split(sep)\n",
            "        return next(csv.reader([line], delimiter=sep, strict=True)) or ['']\n",
        ),
    ),
    planted(
        "lines may be of any length",
        RECORD,
        (LINES, 'chunk.find(b"\\n", start, start + part) >= 0', "True"),
    ),
    planted(
        "a part of a CSV file ends within a line that is too long, whose rest is a record of the next part",
        "rows/test_parts.py::test_a_line_of_any_length_is_one_record_wherever_a_file_is_cut",
        (
            "rows/csvfile.py",
            "                    _rest(stream)\n                    stop = stream.tell()  #",
            "                    stop = stream.tell() + len(_rest(stream))  #",
        ),
    ),
    planted(
        "a line's length in UTF-8 decides, of which a part may have been read",
        "rows/test_csv.py::test_the_length_of_a_line_is_that_in_the_file_wherever_the_line_stands",
        (LINES, "        chunk = _without_long_lines(chunk)\n        if", "        if"),
        (
            LINES,
            "        batch = self._plain(chunk)",
            "        chunk = _without_long_lines(chunk)\n        batch = self._plain(chunk)",
        ),
    ),
    planted(
        "a mark of byte order is taken off the first plain line",
        RECORD,
        (LINES, "not chunk.startswith(codecs.BOM_UTF8)", "True"),
    ),
    planted(
        "an infinite number in a plain chunk is one",
        "rows/test_csv.py",
        (LINES, "np.isinf(values).any()", "False"),
    ),
    planted(
        "a set is a column, of which one cell moves hundreds of others",
        "rows/test_rows.py::test_a_column_without_an_order_of_its_own_is_refused",
        ("rows/sources.py", "or not isinstance(column, Sequence):", "or not isinstance(column, Iterable):"),
    ),
    planted(
        "what is read of a file that has no header is quoted",
        "rows/test_csv.py::test_a_file_without_a_header_says_why_and_what_to_do",
        (
            "rows/csvfile.py",
            '"it has carriage returns in its first line,',
            'f"{line!r} has carriage returns in its first line,',
        ),
    ),
    planted(
        "what a query raises before its first batch leaves as it is",
        "rows/test_parts.py::test_a_part_that_fails_before_its_first_batch_says_nothing_of_a_cell",
        (
            "rows/parts.py",
            "_told(self, lambda: iter(self._coded()))",
            "iter(self._coded())",
        ),
    ),
    planted(
        "a query has a text file parsed by a reader that guesses",
        "rows/test_queries.py::test_a_query_that_parses_a_text_file_is_refused_with_the_remedy",
        ("rows/sql.py", "    for name in map(str.upper, begun):", "    for name in ():"),
    ),
    planted(
        "Dask makes texts of objects by code that came with them",
        "rows/test_dask.py::test_no_code_of_a_cell_is_run",
        (
            "rows/partitions.py",
            "    if protected(lambda: any(map(_makes_texts, steps)), cannot):",
            "    if False:",
        ),
    ),
    planted(
        "one missing id makes floats of all ids of a partition",
        "rows/test_dask.py::test_a_missing_id_neither_ends_a_fit_nor_changes_another_id",
        ("rows/partitions.py", 'if any(kind in ("i", "u") for', "if any(kind is None for"),
    ),
    planted(
        "a missing id makes floats of all ids of a partition that a function makes",
        "rows/test_dask.py::test_ids_whose_type_a_partition_may_choose_are_refused",
        ("rows/partitions.py", "not in _LEAVING for", "in () for"),
    ),
    planted(
        "partitions choose which rows of a unit weigh before they are brought together",
        TOGETHER,
        (
            "rows/partitions.py",
            "marked = moved.map_partitions(",
            "marked = coded.map_partitions(",
        ),
    ),
    planted(
        "all rows of a unit weigh that a cluster brought together",
        TOGETHER,
        ("rows/unit_parts.py", "asked.schema.privacy_unit.max_rows)", "9**9)"),
    ),
    planted(
        "executors of Spark choose which rows of a unit weigh before they are brought together",
        "rows/test_spark.py::test_spark_brings_the_rows_of_a_unit_together_and_hands_none_out",
        (
            "rows/spark.py",
            "share = (spread(ids) % np.uint64(shares))",
            "share = (np.arange(len(ids)) % 2)",
        ),
    ),
    planted(
        "rows of one unit are spooled in several shares, each of which has its own rows that weigh",
        IN_FILES,
        (PARTS_OF_UNITS, "share = spread(words[:, :2]) %", "share = words[:, 4] %"),
    ),
    planted(
        "the bits of a part are those of rows before it",
        IN_FILES,
        (PARTS_OF_UNITS, "found[start % 8 :]", "found[0:]"),
    ),
    planted(
        "rows are taken for those that weigh by their place in a share, and not in the table",
        IN_FILES,
        (PARTS_OF_UNITS, "np.arange(self.rows, self.rows + len(ids)", "np.arange(0, len(ids)"),
    ),
    planted(
        "a query of units is run again at every pass, whose rows may come in another order",
        "rows/test_unit_parts.py::test_a_query_is_run_once_and_its_rows_weigh_as_in_memory",
        (
            PARTS_OF_UNITS,
            "copy = None if all(piece.ordered for piece in pieces) else",
            "copy = None if pieces else",
        ),
    ),
    planted(
        "rows that have come or gone since the choice take the bits of others",
        "rows/test_unit_parts.py::test_rows_of_which_there_are_not_as_many_as_bits_are_refused",
        (PARTS_OF_UNITS, "        if start != self.n:", "        if False:"),
    ),
    planted(
        "files that store ids in two ways make two units of one",
        "rows/test_unit_parts.py::test_files_that_store_ids_in_two_ways_are_refused",
        (PARTS_OF_UNITS, "unit.column, kinds)", "unit.column, set())"),
    ),
    planted(
        "threads move the place where another reads rows of units",
        "rows/test_unit_parts.py::test_threads_read_what_they_ask_for",
        (
            "rows/unit_parts.py",
            "        with self._lock:\n            self._at_disk(lambda: self._file.seek(start",
            "        if True:\n            self._at_disk(lambda: self._file.seek(start",
        ),
    ),
    planted(
        "each partition finds the categories of ids",
        "rows/test_dask.py::test_ids_whose_categories_a_partition_finds_are_refused",
        ("rows/partitions.py", "_FOUND_LATER in dtype.categories", "not len(dtype.categories)"),
    ),
    planted(
        "dates of a category are their nanoseconds",
        "rows/test_dask.py::test_dates_of_a_category_are_nothing_whatever_else_it_holds",
        ("rows/cells.py", 'values.dtype.kind in "mM"', 'values.dtype.kind in "V"'),
    ),
    planted(
        "rows of units are spooled in a file that has a name",
        "rows/test_unit_parts.py::test_nothing_but_a_file_without_a_name_holds_rows",
        (
            "rows/unit_parts.py",
            "tempfile.SpooledTemporaryFile(max_size=sizes.SIZES.spooled)",
            "tempfile.NamedTemporaryFile(delete=False)",
        ),
    ),
    planted(
        "a number and the text that spells it are two units where parts are coded apart",
        "rows/test_dask.py::test_an_integer_and_the_text_that_spells_it_are_one_unit_where_parts_are_coded_apart",
        (CODES, "    return out\n\n\ndef alike(", "    return ids\n\n\ndef alike("),
    ),
    planted(
        "a partition of Spark counts twice",
        "curator/test_engines.py::test_partitions_of_spark_are_added_once_each",
        (
            "curator/engines.py",
            "if len({place for place, _ in answers}) < len(answers):",
            "if not answers:",
        ),
    ),
    planted(
        "a text of SQLite that is not UTF-8 ends the fit",
        "rows/test_queries.py::test_a_text_of_sqlite_that_is_not_utf_8_is_missing_and_changes_no_connection",
        (
            "rows/links.py",
            "    except UnicodeDecodeError:\n        return None",
            "    finally:\n        pass",
        ),
    ),
    planted(
        "a text that the encoding of a connection lacks ends the fit",
        "rows/test_postgres.py::test_no_text_that_an_encoding_lacks_ends_a_query",
        ("rows/sql.py", "            check_encoding(cursor)\n", "            pass\n"),
    ),
    planted(
        "a connection whose cursors are wrapped has all of its texts decoded",
        "rows/test_queries.py::test_a_text_of_sqlite_that_is_not_utf_8_is_missing_and_changes_no_connection",
        ("rows/links.py", "return (inner, driver) if driver else", "return"),
    ),
    planted(
        "rows without a key are in no part, so that n tells of a cell",
        "rows/test_queries.py::test_ranges_of_a_key_have_each_row_once_whatever_the_key_is",
        ("rows/sql.py", " OR {key} IS NULL", ""),
    ),
    planted(
        "SQLite compares a key declared TEXT with cuts as texts, so that a row is in several parts",
        "rows/test_queries.py::test_ranges_of_a_key_have_each_row_once_whatever_the_key_is",
        ("rows/sql.py", "key = _SIGNS[vendor] + ", "key = "),
    ),
    planted(
        "a converter of sqlite3 is called on cells, of which one can end the query",
        "rows/test_queries.py::test_no_converter_of_sqlite_is_called_and_no_other_column_is_fetched",
        ("rows/sql.py", "{_SIGNS[vendor]}dpstats_rows", "dpstats_rows"),
    ),
    planted(
        "dates of Postgres are read by Python, which has not all of them",
        "rows/test_postgres.py"
        "::test_a_type_of_which_python_has_not_all_values_is_refused_and_ends_no_query_of_other_columns",
        ("rows/sql.py", "codes[name] < _MADE", "codes[name] < 0"),
    ),
    planted(
        "columns that nobody asks for are fetched, and one cell of them can end the query",
        "rows/test_queries.py::test_no_converter_of_sqlite_is_called_and_no_other_column_is_fetched",
        ("rows/sql.py", "chosen(asked.columns, link.vendor)", '"*"'),
    ),
    planted(
        "a database may change between the passes of a fit",
        "rows/test_queries.py::test_a_database_of_sqlite_that_changes_between_passes_is_refused",
        ("rows/sql.py", '        if "shown" in vars(self):', "        if False:"),
    ),
    planted(
        "ids are numbers in one file and texts in another, so that a person is two units",
        "rows/test_units.py::test_ids_are_stored_alike_in_all_files",
        (CODES, "        if len(kinds) > 1:", "        if len(kinds) > 2:"),
    ),
    planted(
        "what a reader raises is quoted",
        "rows/test_rows.py::test_what_a_reader_raises_is_not_quoted",
        (
            "_private.py",
            "        if isinstance(error, passed) and",
            "        failure = type(failure)(f'{failure}: {error}')\n        if isinstance(error, passed) and",
        ),
    ),
    planted(
        "one wild object switches off all cells beside it",
        "privacy/test_every_replay.py::test_a_row_that_is_replaced[ols-gram-zcdp]",
        (
            CELLS,
            "            kinds = _kinds(cells)",
            "            kinds = _kinds(cells) * (_kinds(cells) > 0).all()",
        ),
    ),
    planted(
        "ids go through floats where one is missing, and large ones merge",
        "privacy/test_every_replay.py::test_a_record_of_a_parquet_file_that_is_replaced",
        (
            CODES,
            "            out[column.missing] = _NOBODY",
            "            out[:, 1] = column.values.astype(np.float64).astype(np.uint64)\n"
            "            out[column.missing] = _NOBODY",
        ),
    ),
    planted(
        "the first rows of a unit weigh, so that their order tells (OpenDP's Theil-Sen)",
        "rows/test_units.py::test_neither_order_nor_partition_matters",
        (
            UNITS,
            "_lots(ids[crowded], hashes(crowded))",
            "_lots(ids[crowded], np.zeros((len(crowded), 2), dtype=np.uint64))",
        ),
    ),
    planted(
        "all rows of a unit weigh",
        "privacy/test_every_replay.py::test_a_unit_that_is_replaced[ols-gram-zcdp]",
        (UNITS, "weighs[crowded[order]] = rank < max_rows", "weighs[crowded[order]] = rank < 9 * max_rows"),
    ),
    planted(
        "rows without an id weigh",
        "rows/test_units.py",
        (UNITS, "    weighs = np.asarray(ids.any(axis=1))", "    weighs = np.ones(len(ids), dtype=bool)"),
    ),
    planted(
        "chunks are joined, so that one cell decides whether the column can be read",
        "rows/test_chunks.py",
        (
            CELLS,
            "        chunks = values.chunks or [pa.nulls(0, values.type)]",
            "        chunks = [values.combine_chunks()]",
        ),
    ),
    planted(
        "views are copied into offsets of 32 bits, which wrap (Arrow's cast of views)",
        "rows/test_chunks.py",
        (CELLS, "if whole else part.cast(_BYTES)", "if whole else part.cast(pa.binary())"),
    ),
    planted(
        "a view of one long text is copied for every cell at once",
        "rows/test_chunks.py",
        (
            CELLS,
            "        if not (pa.types.is_string_view(self.cells.type) and len(self)):",
            "        if True:",
        ),
    ),
    planted(
        "one text of 2 GiB makes every cell of its part empty",
        "rows/test_chunks.py",
        (
            CELLS,
            "    return pa.array(texts, pa.large_binary())\n\n\n@dataclass",
            "    return pa.nulls(len(texts), pa.large_binary())\n\n\n@dataclass",
        ),
    ),
    planted(
        "a position outside its dictionary is an error of the whole table",
        "rows/test_chunks.py",
        (CODES, 'axis=0, mode="clip")', "axis=0)"),
    ),
    planted(
        "an Arrow file on the standard input is taken for a CSV file",
        "rows/test_same_content.py::test_each_format_is_known_wherever_formats_are_named",
        ("cli/streams.py", 'b"ARROW1": ".arrow", ', ""),
    ),
    planted(
        "how a number is written decides about numbers in other records",
        "rows/test_grammar.py::test_digits_in_groups_are_no_matter_for_other_cells",
        (
            "rows/grammar.py",
            '    plain = pc.replace_substring(cells, thousands, "") if thousands else cells\n',
            "    if not pc.any(pc.match_substring(cells, thousands)).as_py():\n"
            '        return parse(pc.replace_substring(cells, mark, "."))\n'
            '    plain = pc.replace_substring(cells, thousands, "") if thousands else cells\n',
        ),
    ),
    planted(
        "a decimal with a scale is the text that it prints as, which is no code",
        "rows/test_same_content.py::test_a_decimal_is_the_number_nearest_to_it_in_every_reader",
        (CELLS, "    if pa.types.is_decimal(form):", "    if False:"),
    ),
    planted(
        "a decimal is rounded as Arrow does, not to the nearest number",
        "rows/test_same_content.py::test_a_decimal_is_the_number_nearest_to_it_in_every_reader",
        (
            CELLS,
            "np.concatenate([parse(part) for part in Texts(values).parts()])",
            "values.cast(pa.float64()).to_numpy(zero_copy_only=False)",
        ),
    ),
    planted(
        "one decimal beyond its type refuses a file",
        "rows/test_chunks.py",
        ("rows/files.py", "validate(full=not pa.types.is_decimal(column.type))", "validate(full=True)"),
    ),
    planted(
        "a lazy column's own exception leaves with its words",
        "rows/test_protected.py",
        (
            "rows/rows.py",
            "return Rows(protected(lambda: _source(data, asked), failure, (SpecificationError,)), schema, names)",
            "return Rows(_source(data, asked), schema, names)",
        ),
        (
            "rows/sources.py",
            'return protected(make, DataError(f"the column {name!r} cannot be opened. {HIDDEN}"))',
            "return make()",
        ),
    ),
    planted(
        "frames with rows hang on an error of reading",
        "rows/test_protected.py",
        (
            "rows/rows.py",
            "protected(self._read, DataError(self._source.broken), (SpecificationError,))",
            "self._read()",
        ),
    ),
    planted(
        "the words of other code's DataError are taken for the package's own",
        "rows/test_protected.py",
        ("_private.py", "if isinstance(error, passed) and is_own(error):", "if isinstance(error, passed):"),
    ),
    planted(
        "what is left of a generator after a stopped reading is taken for the table",
        "rows/test_protected.py",
        ("rows/rows.py", "        if source.once:\n", "        if False:\n"),
    ),
    planted(
        "an encoding of escapes is taken for one of characters, and warns of cells",
        "rows/test_csv.py",
        ("rows/csvfile.py", "product(range(128), repeat=2))", "product(range(128), repeat=1))"),
    ),
    planted(
        "words such as inf are numbers",
        "rows/test_rows.py::test_numbers_are_read_from_texts_one_by_one",
        ("rows/grammar.py", "if not _NUMBER[mark].fullmatch(text):", "if text.isalpha() and text != b'inf':"),
        ("rows/grammar.py", "return value if math.isfinite(value) else math.nan", "return value"),
    ),
    planted(
        "many texts that are not declared make a declared one another",
        "rows/test_rows.py::test_many_texts_that_are_not_declared_change_no_other_row",
        (
            "rows/encode.py",
            "        table = self._of_each(distinct.dictionary)",
            "        if len(distinct.dictionary) > 4096:\n            return np.full(len(cells), self._fallback)\n"
            "        table = self._of_each(distinct.dictionary)",
        ),
    ),
    planted(
        "an error about the shape of a column shows its cells",
        "rows/test_rows.py::test_a_table_that_cannot_be_used_says_why",
        ("rows/sources.py", 'must have one dimension")', 'must have one dimension, not {column!r}")'),
    ),
)
