// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes tables as Parquet: one row group, one column of doubles or strings per field.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use kneepoint::table::{Cell, Records, Table};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::failure::Failure;
use crate::files::Pending;

type Result<T, E = ParquetError> = std::result::Result<T, E>;

/// Writes a file atomically; `write` is one of the functions below.
pub fn save(path: &Path, write: impl FnOnce(&mut Pending) -> Result<()>) -> Result<(), Failure> {
    let mut pending = Pending::create(path)?;
    write(&mut pending).map_err(|error| {
        let message = format!("cannot write `{}`: {error}", path.display());
        Failure::run(message, "the same numbers are in the CSV beside it")
    })?;
    pending.commit()
}

/// Writes `table` to `sink`.
pub fn write(table: &Table, sink: impl Write + Send) -> Result<()> {
    let columns = (0..table.columns.len()).map(|place| Column::Numbers(table.values(place).collect()));
    write_columns("series", &table.columns, &columns.collect::<Vec<_>>(), sink)
}

/// Writes `records` to `sink`: a column is of strings if it contains one, otherwise of doubles.
pub fn write_records(records: &Records, sink: impl Write + Send) -> Result<()> {
    let column = |place: usize| {
        let cells = records.rows.iter().map(|row| &row[place]);
        if records.is_text(place) {
            Column::Texts(cells.map(|cell| cell.text().into_bytes().into()).collect())
        } else {
            Column::Numbers(cells.map(Cell::number).collect())
        }
    };
    let columns = (0..records.columns.len()).map(column).collect::<Vec<_>>();
    write_columns("records", &records.columns, &columns, sink)
}

/// Contents of a column.
pub enum Column {
    /// Numbers; NaN without an observation.
    Numbers(Vec<f64>),
    /// Texts.
    Texts(Vec<ByteArray>),
}

/// Writes `columns` to `sink`.
pub fn write_columns(
    root: &str,
    names: &[String],
    columns: &[Column],
    sink: impl Write + Send,
) -> Result<()> {
    let properties = WriterProperties::builder()
        .set_created_by(concat!("knee ", env!("CARGO_PKG_VERSION")).to_string())
        .set_compression(Compression::SNAPPY)
        .build();
    let fields = names.iter().zip(columns).map(|(name, column)| column.field(name)).collect::<Result<_>>()?;
    let schema = Type::group_type_builder(root).with_fields(fields).build()?;
    let mut file = SerializedFileWriter::new(sink, Arc::new(schema), Arc::new(properties))?;
    let mut rows = file.next_row_group()?;
    for column in columns {
        let Some(mut writer) = rows.next_column()? else { break };
        match column {
            Column::Numbers(numbers) => writer.typed::<DoubleType>().write_batch(numbers, None, None)?,
            Column::Texts(texts) => writer.typed::<ByteArrayType>().write_batch(texts, None, None)?,
        };
        writer.close()?;
    }
    rows.close()?;
    file.close()?;
    Ok(())
}

impl Column {
    fn field(&self, name: &str) -> Result<Arc<Type>> {
        let (physical, logical) = match self {
            Column::Numbers(_) => (Physical::DOUBLE, None),
            Column::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let column = Type::primitive_type_builder(name, physical).with_logical_type(logical);
        column.with_repetition(Repetition::REQUIRED).build().map(Arc::new)
    }
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;

    #[test]
    fn what_is_written_reads_back_with_names_and_numbers() {
        let columns = ["time_s", "queue_packets[r1-r2]"].map(String::from).to_vec();
        let table = Table { columns, rows: vec![vec![0.0, f64::NAN], vec![0.1, 7.0]] };
        let path = tempfile::tempdir().unwrap().keep().join("series.parquet");
        write(&table, std::fs::File::create(&path).unwrap()).unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        let fields = reader.metadata().file_metadata().schema().get_fields().iter();
        assert_eq!(fields.map(|field| field.name()).collect::<Vec<_>>(), ["time_s", "queue_packets[r1-r2]"]);
        let rows = reader.get_row_iter(None).unwrap().map(|row| row.unwrap()).collect::<Vec<_>>();
        assert!(rows[0].get_double(1).unwrap().is_nan());
        assert_eq!((rows[1].get_double(0).unwrap(), rows[1].get_double(1).unwrap()), (0.1, 7.0));
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn texts_stand_beside_numbers() {
        let written = vec![vec!["vegas".into(), 0.5.into()], vec!["tri-s".into(), f64::NAN.into()]];
        let records = Records { columns: ["predictor", "share"].map(String::from).to_vec(), rows: written };
        let file = tempfile::tempfile().unwrap();
        write_records(&records, file.try_clone().unwrap()).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows = reader.get_row_iter(None).unwrap().map(|row| row.unwrap()).collect::<Vec<_>>();
        assert_eq!((rows[0].get_string(0).unwrap().as_str(), rows[0].get_double(1).unwrap()), ("vegas", 0.5));
        assert_eq!(rows[1].get_string(0).unwrap(), "tri-s");
        assert!(rows[1].get_double(1).unwrap().is_nan());
    }
}
