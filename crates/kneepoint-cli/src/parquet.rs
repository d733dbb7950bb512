// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes tables as Parquet: one row group, one column of doubles or strings per field, null where nothing is defined; the metadata of
//! the file define its columns and say where it is from.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use kneepoint::report::output::{Definition, Output};
use kneepoint::report::{Manifest, SCHEMA_VERSION, csv};
use kneepoint::table::{Records, Table, defined};
use kneepoint_bench::files::{self, Pending};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::{Field, Row};
use parquet::schema::types::Type;
use serde_json::{Value, json};

use crate::failure::Failure;

type Result<T, E = ParquetError> = std::result::Result<T, E>;

/// Writes a file atomically; `write` is one of the functions below.
pub fn save(path: &Path, write: impl FnOnce(&mut Pending) -> Result<()>) -> Result<(), Failure> {
    let mut pending = Pending::create(path)?;
    write(&mut pending).map_err(|error| failure(path, &error))?;
    pending.commit()
}

/// The failure of the disk, if that is the error that the writer returns.
fn failure(path: &Path, error: &ParquetError) -> Failure {
    let cause = match error {
        ParquetError::External(cause) => cause.downcast_ref::<io::Error>(),
        _ => None,
    };
    cause.map_or_else(
        || {
            let message = format!("cannot write `{}`: {error}", path.display());
            Failure::run(message, "report this; nothing was written in its place")
        },
        |cause| Failure::io("write", path, cause),
    )
}

/// Reads a table of numbers that was written here.
pub fn read(path: &Path) -> Result<Table> {
    let reader = SerializedFileReader::new(
        File::open(path).map_err(|error| ParquetError::External(Box::new(error)))?,
    )?;
    let fields = reader.metadata().file_metadata().schema().get_fields();
    let columns = fields.iter().map(|field| field.name().to_string()).collect();
    let number = |field: &Field| match field {
        Field::Double(number) => Ok(*number),
        Field::Null => Ok(f64::NAN),
        other => Err(ParquetError::General(format!("`{other}` is not a number of a series"))),
    };
    let numbers = |row: Result<Row>| -> Result<Vec<f64>> {
        row?.get_column_iter().map(|(_, field)| number(field)).collect()
    };
    Ok(Table { columns, rows: reader.get_row_iter(None)?.map(numbers).collect::<Result<_>>()? })
}

/// Writes tables under their names into a folder, as Parquet and as CSV; `output` defines the columns of each.
pub fn save_tables(
    tables: &[(String, Records)],
    output: impl Fn(&str) -> &'static Output,
    manifest: &Manifest,
    folder: &Path,
) -> Result<(), Failure> {
    for (name, records) in tables {
        files::write(&folder.join(format!("{name}.csv")), csv::records(records))?;
        let origin = Origin { output: output(name), manifest };
        save(&folder.join(format!("{name}.parquet")), |sink| write_records(records, origin, sink))?;
    }
    Ok(())
}

/// A file's own description.
#[derive(Clone, Copy)]
pub struct Origin<'a> {
    /// Defines its columns.
    pub output: &'a Output,
    /// The runs that it describes.
    pub manifest: &'a Manifest,
}

impl Origin<'_> {
    fn metadata(&self, columns: &[String]) -> Vec<KeyValue> {
        let defined = columns.iter().zip(self.output.columns(columns));
        let defined = defined.filter_map(|(name, definition)| {
            let Definition { unit, about, .. } = definition?;
            Some((name.clone(), json!({"unit": unit, "definition": about})))
        });
        // Equal runs produce identical files, which leave out what differs between calls and machines.
        let (host, kernel, created, command, notes) = (None, None, None, None, Vec::new());
        let same = Manifest { host, kernel, created, command, notes, ..self.manifest.clone() };
        [
            ("schema_version", SCHEMA_VERSION.to_string()),
            ("about", self.output.about.to_string()),
            ("columns", Value::Object(defined.collect()).to_string()),
            ("manifest", json!(same).to_string()),
        ]
        .map(|(key, value)| KeyValue::new(key.to_string(), value))
        .into()
    }
}

/// Writes `table` to `sink`.
pub fn write(table: &Table, origin: Origin, sink: impl Write + Send) -> Result<()> {
    let columns = (0..table.columns.len()).map(|place| Column::numbers(table.values(place)));
    write_columns(origin, &table.columns, &columns.collect::<Vec<_>>(), sink)
}

/// Writes `records` to `sink`: a column is of strings if it contains one, otherwise of doubles.
pub fn write_records(records: &Records, origin: Origin, sink: impl Write + Send) -> Result<()> {
    let column = |place: usize| {
        let cells = records.rows.iter().map(|row| &row[place]);
        if records.is_text(place) {
            Column::Texts(cells.map(|cell| Some(cell.known()?.into_bytes().into())).collect())
        } else {
            Column::numbers(cells.map(|cell| cell.number().unwrap_or(f64::NAN)))
        }
    };
    let columns = (0..records.columns.len()).map(column).collect::<Vec<_>>();
    write_columns(origin, &records.columns, &columns, sink)
}

/// Contents of a column.
pub enum Column {
    /// Numbers where they are defined.
    Numbers(Vec<Option<f64>>),
    /// Texts.
    Texts(Vec<Option<ByteArray>>),
}

/// Writes `columns` to `sink`.
pub fn write_columns(
    origin: Origin,
    names: &[String],
    columns: &[Column],
    sink: impl Write + Send,
) -> Result<()> {
    let properties = WriterProperties::builder()
        .set_created_by(concat!("knee ", env!("CARGO_PKG_VERSION")).to_string())
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(origin.metadata(names)))
        .build();
    let fields = names.iter().zip(columns).map(|(name, column)| column.field(name)).collect::<Result<_>>()?;
    let schema = Type::group_type_builder(origin.output.name).with_fields(fields).build()?;
    let mut file = SerializedFileWriter::new(sink, Arc::new(schema), Arc::new(properties))?;
    let mut rows = file.next_row_group()?;
    for column in columns {
        let Some(mut writer) = rows.next_column()? else { break };
        match column {
            Column::Numbers(numbers) => {
                let (known, levels) = levels(numbers);
                writer.typed::<DoubleType>().write_batch(&known, Some(&levels), None)?
            }
            Column::Texts(texts) => {
                let (known, levels) = levels(texts);
                writer.typed::<ByteArrayType>().write_batch(&known, Some(&levels), None)?
            }
        };
        writer.close()?;
    }
    rows.close()?;
    file.close()?;
    Ok(())
}

/// The existing values, and for each place whether it has one.
fn levels<T: Clone>(values: &[Option<T>]) -> (Vec<T>, Vec<i16>) {
    (values.iter().flatten().cloned().collect(), values.iter().map(|value| value.is_some().into()).collect())
}

impl Column {
    /// Numbers; values that are not finite are undefined.
    pub fn numbers(numbers: impl Iterator<Item = f64>) -> Column {
        Column::Numbers(numbers.map(defined).collect())
    }

    fn field(&self, name: &str) -> Result<Arc<Type>> {
        let (physical, logical) = match self {
            Column::Numbers(_) => (Physical::DOUBLE, None),
            Column::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let column = Type::primitive_type_builder(name, physical).with_logical_type(logical);
        column.with_repetition(Repetition::OPTIONAL).build().map(Arc::new)
    }
}

#[cfg(test)]
mod tests {
    use kneepoint::report::output;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;

    #[test]
    fn what_is_written_reads_back_with_names_and_numbers() {
        let columns = ["time_s", "queue_packets[r1-r2]"].map(String::from).to_vec();
        let table = Table { columns, rows: vec![vec![0.0, f64::NAN], vec![0.1, 7.0]] };
        let path = tempfile::tempdir().unwrap().keep().join("series.parquet");
        let command = Some("knee run".to_string());
        let manifest = Manifest { seeds: vec![7], command, ..Manifest::default() };
        let origin = Origin { output: &output::SERIES, manifest: &manifest };
        write(&table, origin, std::fs::File::create(&path).unwrap()).unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap();
        let entry =
            |key: &str| metadata.iter().find(|one| one.key == key).and_then(|one| one.value.clone()).unwrap();
        let read = |key: &str| serde_json::from_str::<Value>(&entry(key)).unwrap();
        assert_eq!(read("schema_version"), SCHEMA_VERSION);
        assert_eq!((&read("manifest")["seeds"], &read("manifest")["command"]), (&json!([7]), &Value::Null));
        let queue = &read("columns")["queue_packets[r1-r2]"];
        assert_eq!(queue["unit"], "packets");
        assert_eq!(queue["definition"], output::SERIES.column("queue_packets[r1-r2]").unwrap().about);
        let fields = reader.metadata().file_metadata().schema().get_fields().iter();
        assert_eq!(fields.map(|field| field.name()).collect::<Vec<_>>(), ["time_s", "queue_packets[r1-r2]"]);
        let rows = reader.get_row_iter(None).unwrap().map(|row| row.unwrap()).collect::<Vec<_>>();
        assert!(rows[0].get_double(1).is_err(), "a null");
        assert_eq!((rows[1].get_double(0).unwrap(), rows[1].get_double(1).unwrap()), (0.1, 7.0));
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn texts_stand_beside_numbers() {
        let written = vec![vec!["vegas".into(), 0.5.into()], vec!["tri-s".into(), f64::NAN.into()]];
        let records = Records { columns: ["predictor", "share"].map(String::from).to_vec(), rows: written };
        let file = tempfile::tempfile().unwrap();
        let manifest = Manifest::default();
        let origin = Origin { output: &output::ESTIMATES, manifest: &manifest };
        write_records(&records, origin, file.try_clone().unwrap()).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows = reader.get_row_iter(None).unwrap().map(|row| row.unwrap()).collect::<Vec<_>>();
        assert_eq!((rows[0].get_string(0).unwrap().as_str(), rows[0].get_double(1).unwrap()), ("vegas", 0.5));
        assert_eq!(rows[1].get_string(0).unwrap(), "tri-s");
        assert!(rows[1].get_double(1).is_err(), "a null");
    }

    /// A disk with room for this many bytes, then an error.
    struct Disk(usize, io::ErrorKind);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(self.1)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_disk_that_fails_fails_as_for_every_other_file_wherever_that_is() {
        use io::ErrorKind::{FileTooLarge, OutOfMemory, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let columns = ["name", "x"].map(String::from).to_vec();
        let rows = (0..1000)
            .map(|row| vec![format!("r{row}").as_str().into(), f64::from(row).sqrt().into()])
            .collect();
        let (records, manifest) = (Records { columns, rows }, Manifest::default());
        let (folder, origin) =
            (tempfile::tempdir().unwrap(), Origin { output: &output::ESTIMATES, manifest: &manifest });
        let path = folder.path().join("a.parquet");
        let mut whole = Vec::new();
        write_records(&records, origin, &mut whole).unwrap();
        for kind in [FileTooLarge, OutOfMemory, QuotaExceeded, ReadOnlyFilesystem, StorageFull] {
            for room in [0, 3, 4, 100, whole.len() / 2, whole.len() - 1] {
                let refused = save(&path, |_| write_records(&records, origin, Disk(room, kind))).unwrap_err();
                let (Failure::Run(refused), Failure::Run(usual)) =
                    (refused, Failure::io("write", &path, &kind.into()))
                else {
                    panic!("{kind} after {room} bytes")
                };
                assert_eq!(refused.message(), usual.message(), "{kind} after {room} bytes");
                assert!(refused.remedy().is_some() && refused.remedy() == usual.remedy());
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_number_that_is_not_finite_is_none_in_every_file() {
        for none in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let columns = ["name", "x", "mixed"].map(String::from).to_vec();
            let rows =
                vec![vec!["a".into(), none.into(), none.into()], vec!["b".into(), 2.0.into(), "text".into()]];
            let records = Records { columns, rows };
            assert_eq!(csv::records(&records), "name,x,mixed\na,,\nb,2,text\n");
            let table = Table { columns: vec!["x".into()], rows: vec![vec![none], vec![2.0]] };
            assert_eq!(csv::table(&table), "x\n\"\"\n2\n");
            assert_eq!(
                json!({"x": none, "table": table}),
                json!({"x": null, "table": {"columns": ["x"], "rows": [[null], [2.0]]}})
            );
            let (file, manifest) = (tempfile::tempfile().unwrap(), Manifest::default());
            let origin = Origin { output: &output::ESTIMATES, manifest: &manifest };
            write_records(&records, origin, file.try_clone().unwrap()).unwrap();
            let reader = SerializedFileReader::new(file).unwrap();
            let read = reader.get_row_iter(None).unwrap().map(|row| row.unwrap()).collect::<Vec<_>>();
            assert!(read[0].get_double(1).is_err() && read[0].get_string(2).is_err());
            assert_eq!(
                (read[1].get_double(1).unwrap(), read[1].get_string(2).unwrap().as_str()),
                (2.0, "text")
            );
        }
    }
}
