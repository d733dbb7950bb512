// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Films: made by FFmpeg from published numbers, or the user's own, as an MPEG transport stream.
//!
//! ```text
//! pictures  H.264, 24 a second, 640 × 360: noise whose strength changes every 3 s, so that the rate follows it. Two passes meet the mean rate
//!           of 286.5 MB in 210 s, sound and packets of the stream included; a buffer of half a second at 25 Mbit/s bounds the peaks
//! sound     AAC, 48 kHz, 192 kbit/s
//! ```
//!
//! Size and timing matter, and not the pictures. The same version of FFmpeg gives the same bytes; a film is made once for each length.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use kneepoint::units::Span;
use kneepoint_bench::files;
use kneepoint_bench::session::Session;
use kneepoint_bench::{ours, temporary};
use kneepoint_linux::live::video::{Contents, contents};
use kneepoint_linux::privilege::{self, Rights};

use crate::failure::Failure;

/// The place of kept films.
const KEPT: &str = "out/films";
/// Bits per second of the pictures, of which FFmpeg makes 286.5 MB in 210 s with sound and headers.
const PICTURES: u64 = 10_560_000;
const SOUND: u64 = 192_000;
const PEAK: u64 = 25_000_000;
/// The longest film that is read.
const LARGEST: u64 = 4 << 30;

/// Whether the necessary programs are installed.
pub fn check(makes: bool, plays: bool) -> Result<(), Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = |name: &str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    let wanted = [
        (makes, "ffmpeg", "it makes the film; or play another with --clip FILE.ts"),
        (plays, "mpv", "it is one of the players"),
    ];
    for (needed, name, why) in wanted {
        if needed && !there(name) {
            let remedy = format!("install it (apt-get install -y {name}): {why}");
            return Err(Failure::run(format!("`{name}` is not installed"), remedy));
        }
    }
    Ok(())
}

/// A film of the user's; any that is not a transport stream is converted.
pub fn given(file: &Path, out: &Path) -> Result<(PathBuf, Vec<u8>, Contents), Failure> {
    let bytes = files::read_bytes(file, LARGEST)?;
    if let Some(contents) = contents(&bytes).filter(|found| found.length > Span::ZERO) {
        return Ok((file.to_path_buf(), bytes, contents));
    }
    check(true, false)?;
    let packed = out.join("film.ts");
    // Its contents are untrusted: its reader has the rights of the caller and can write only its output.
    files::write(&packed, ffmpeg(packing(file), Rights::of_caller())?)?;
    read(packed)
}

/// The film of this length, made unless it is kept.
pub fn made(session: &Session, length: Span) -> Result<(PathBuf, Vec<u8>, Contents), Failure> {
    files::make_directory(Path::new(KEPT))?;
    let seconds = length.as_secs_f64();
    let file = Path::new(KEPT).join(format!("{seconds}s.ts"));
    if !file.is_file() {
        session.tell(format!("making a film of {length}: {}", file.display()));
        // FFmpeg writes logs next to it, and another process may make the same film.
        let room = temporary::directory(Path::new(KEPT), &ours::film())
            .map_err(|error| Failure::io("write", &file, &error))?;
        let [log, made] = ["log", "film.ts"].map(|name| room.path().join(name));
        let strength = "0.05+0.95*pow(mod(floor(t/3)*7\\,11)/10\\,3)";
        let pictures = format!(
            "-f lavfi -i color=gray:s=640x360:r=24:d={seconds},noise=alls=60:allf=t:all_seed=1,eq=contrast={strength}:eval=frame"
        );
        let coded = format!(
            "-c:v libx264 -preset ultrafast -threads 1 -qcomp 1 -b:v {PICTURES} -maxrate {PEAK} -bufsize {}",
            PEAK / 2
        );
        let sound = format!("-f lavfi -i sine=440:r=48000:d={seconds}");
        let pass = |number: &str, line: &str, output: &[OsString]| {
            let coded = words(&format!("{line} {coded} -pass {number} -passlogfile"));
            ffmpeg([coded, vec![log.clone().into()], output.to_vec()].concat(), Rights::All)
        };
        pass("1", &pictures, &words("-an -f null -"))?;
        let mut second =
            words(&format!("-c:a aac -b:a {SOUND} -pes_payload_size 0 -fflags +bitexact -f mpegts"));
        second.push(as_file(&made));
        pass("2", &format!("{pictures} {sound}"), &second)?;
        std::fs::rename(&made, &file).map_err(|error| Failure::io("write", &file, &error))?;
    }
    read(file)
}

fn read(file: PathBuf) -> Result<(PathBuf, Vec<u8>, Contents), Failure> {
    let bytes = files::read_bytes(&file, LARGEST)?;
    match contents(&bytes).filter(|found| found.length > Span::ZERO) {
        Some(contents) => Ok((file, bytes, contents)),
        None => Err(Failure::run(
            format!("`{}` has no pictures", file.display()),
            "choose another film, or remove it",
        )),
    }
}

/// The arguments in a line that names no file of the user's.
fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

/// A path that FFmpeg always takes for a file, even with a dash at its beginning, a space, or the scheme of an address.
fn as_file(path: &Path) -> OsString {
    let mut name = OsString::from("file:");
    name.push(path);
    name
}

/// The arguments that make a film a transport stream on standard output. It is read from files only, also if it is a
/// list of other files.
fn packing(file: &Path) -> Vec<OsString> {
    let mut all = words("-protocol_whitelist file -i");
    all.push(as_file(file));
    all.extend(words("-map 0:v:0 -map 0:a:0? -c copy -pes_payload_size 0 -f mpegts pipe:1"));
    all
}

/// Runs FFmpeg with these arguments and rights; returns its standard output.
fn ffmpeg(arguments: Vec<OsString>, rights: Rights) -> Result<Vec<u8>, Failure> {
    let mut command = Command::new("ffmpeg");
    command.args(["-nostdin", "-v", "error", "-y"]).args(arguments);
    privilege::confine(&mut command, rights);
    let output = command.output().map_err(|error| {
        Failure::run(format!("cannot start ffmpeg: {error}"), "install it: apt-get install -y ffmpeg")
    })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_string();
    Err(Failure::run(format!("ffmpeg failed: {said}"), "it needs libx264; Debian's has it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_argument_and_a_file_whatever_is_in_it() {
        let names =
            ["a b.mkv", "-f", "concat:a|b", "http://host/x", "x.mkv -y /etc/passwd", "pipe:0", "ä\n.mp4"];
        for name in names {
            let all = packing(Path::new(name));
            assert_eq!(all.len(), packing(Path::new("x")).len(), "{name}");
            let input = all.iter().position(|word| word == "-i").expect("an input") + 1;
            assert_eq!(all[input], format!("file:{name}").as_str());
        }
    }
}
