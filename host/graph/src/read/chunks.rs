//! Splitting of a source into pieces of whole lines, on its own thread.
//!
//! Decompression is sequential and parsing is not. A bounded channel between them keeps both busy
//! and holds a few megabytes at most, for any file size. Pieces end after a newline, so a parser
//! never sees half a number.

use std::sync::mpsc::{Receiver, SyncSender};

use super::source::Source;
use crate::{GraphError, Progress};

/// Bytes of a piece, unless a line is longer.
const PIECE_BYTES: usize = 1 << 20;
/// Longest line allowed; a METIS file has all neighbours of a node on one line.
pub(super) const LINE_BYTES: usize = 1 << 26;

/// A message of the reading thread.
pub(super) enum Piece {
    /// Whole lines; the last line of the file may lack its newline.
    Lines(Vec<u8>),
    /// The next line is longer than [`LINE_BYTES`].
    TooLong,
    /// Reading failed; nothing follows.
    Failed(GraphError),
}

/// Bytes that passed through [`pump`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passed {
    pub(super) raw: u64,
    pub(super) decoded: u64,
}

/// Reads the source to its end, or until the receiver disconnects.
pub(super) fn pump(
    mut source: Source,
    pieces: &SyncSender<Piece>,
    progress: Option<&dyn Progress>,
) -> Passed {
    let mut rest = Vec::new();
    loop {
        let piece = next_piece(&mut source, &mut rest);
        if let Some(progress) = progress {
            progress.update(source.raw_bytes(), source.total);
        }
        let Some(piece) = piece else { break };
        let last = !matches!(piece, Piece::Lines(_));
        if pieces.send(piece).is_err() || last {
            break;
        }
    }
    Passed {
        raw: source.raw_bytes(),
        decoded: source.decoded_bytes(),
    }
}

/// Returns the next piece, and leaves the start of an unfinished line in `rest`.
pub(super) fn next_piece(source: &mut Source, rest: &mut Vec<u8>) -> Option<Piece> {
    let mut bytes = std::mem::take(rest);
    loop {
        let kept = bytes.len();
        // Doubles the buffer for an unfinished line, so that memory follows its bytes.
        bytes.resize(PIECE_BYTES.max(2 * kept), 0);
        let filled = match source.fill(&mut bytes[kept..]) {
            Ok(count) => kept + count,
            Err(error) => return Some(Piece::Failed(error)),
        };
        if filled < bytes.len() {
            bytes.truncate(filled);
            return (!bytes.is_empty()).then_some(Piece::Lines(bytes));
        }
        if let Some(newline) = bytes.iter().rposition(|&b| b == b'\n') {
            rest.extend_from_slice(&bytes[newline + 1..]);
            bytes.truncate(newline + 1);
            return Some(Piece::Lines(bytes));
        }
        if filled >= LINE_BYTES {
            return Some(Piece::TooLong);
        }
    }
}

/// Waits for one piece and takes others that are ready, up to `most`.
pub(super) fn next_batch(pieces: &Receiver<Piece>, most: usize) -> Vec<Piece> {
    let Ok(first) = pieces.recv() else {
        return Vec::new();
    };
    let mut batch = vec![first];
    while batch.len() < most {
        match pieces.try_recv() {
            Ok(piece) => batch.push(piece),
            Err(_) => break,
        }
    }
    batch
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces_of(bytes: &[u8]) -> Vec<Piece> {
        let source = Source::of_bytes("x", bytes.to_vec()).unwrap();
        let (sender, receiver) = std::sync::mpsc::sync_channel(64);
        let passed = pump(source, &sender, None);
        drop(sender);
        assert!(passed.decoded <= bytes.len() as u64);
        receiver.iter().collect()
    }

    #[test]
    fn pieces_end_after_newlines_and_lose_nothing() {
        let text: Vec<u8> = (0..400_000)
            .flat_map(|n| format!("{n} {}\n", n * 3).into_bytes())
            .collect();
        let pieces = pieces_of(&text);
        assert!(pieces.len() > 3);
        let mut joined = Vec::new();
        for piece in pieces {
            let Piece::Lines(bytes) = piece else {
                panic!("not lines")
            };
            assert_eq!(bytes.last(), Some(&b'\n'));
            joined.extend(bytes);
        }
        assert!(joined == text);
    }

    #[test]
    fn a_last_line_without_newline_arrives() {
        let pieces = pieces_of(b"1 2\n3 4");
        assert!(matches!(&pieces[..], [Piece::Lines(bytes)] if bytes == b"1 2\n3 4"));
    }

    #[test]
    fn a_line_longer_than_a_piece_arrives_whole() {
        let line = [vec![b'7'; 3 * PIECE_BYTES], b"\n8".to_vec()].concat();
        let pieces = pieces_of(&line);
        assert!(matches!(&pieces[..], [Piece::Lines(bytes)] if *bytes == line));
    }

    #[test]
    fn an_endless_line_is_recognised() {
        let endless: Box<dyn std::io::Read + Send> = Box::new(std::io::repeat(b'7'));
        let mut source = Source::of_reader("x", endless).unwrap();
        let piece = next_piece(&mut source, &mut Vec::new());
        assert!(matches!(piece, Some(Piece::TooLong)));
    }
}
