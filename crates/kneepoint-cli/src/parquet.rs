// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tables to Parquet: one row group, each column of doubles under its own name.

use std::io::Write;
use std::sync::Arc;

use kneepoint::measure::Table;
use parquet::basic::{Compression, Repetition, Type as Physical};
use parquet::data_type::DoubleType;
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

/// Writes `table` to `sink`.
pub fn write(table: &Table, sink: impl Write + Send) -> Result<()> {
    let properties = WriterProperties::builder()
        .set_created_by(concat!("knee ", env!("CARGO_PKG_VERSION")).to_string())
        .set_compression(Compression::SNAPPY)
        .build();
    let mut file = SerializedFileWriter::new(sink, Arc::new(schema(table)?), Arc::new(properties))?;
    let mut rows = file.next_row_group()?;
    let mut place = 0;
    while let Some(mut column) = rows.next_column()? {
        let values = table.values(place).collect::<Vec<_>>();
        column.typed::<DoubleType>().write_batch(&values, None, None)?;
        column.close()?;
        place += 1;
    }
    rows.close()?;
    file.close()?;
    Ok(())
}

fn schema(table: &Table) -> Result<Type> {
    let double = |name: &String| {
        let column = Type::primitive_type_builder(name, Physical::DOUBLE);
        column.with_repetition(Repetition::REQUIRED).build().map(Arc::new)
    };
    let columns = table.columns.iter().map(double).collect::<Result<Vec<_>>>()?;
    Type::group_type_builder("series").with_fields(columns).build()
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
}
