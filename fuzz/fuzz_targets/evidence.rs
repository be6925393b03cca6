//! Evidence as text: any text ends as a verdict, and written samples read back equal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seawall_core::evidence::{BACKEND, CsvError, HEADER, Sample, verify, verify_csv, write_csv};
use seawall_fuzz::draw::Draw;

fuzz_target!(|bytes: &[u8]| {
    let mut draw = Draw::new(bytes);
    match draw.byte() % 3 {
        0 => {
            let required = draw.float();
            judge(&String::from_utf8_lossy(draw.rest()), required);
        }
        1 => {
            let rows = String::from_utf8_lossy(draw.rest()).into_owned();
            judge(&format!("{HEADER}\n{rows}"), 1.0);
        }
        _ => write_and_read(&mut draw),
    }
});

fn judge(text: &str, required: f64) {
    match verify_csv(text, required) {
        Ok(proof) => {
            assert!(proof.sample_count >= 2 && required > 0.0);
            assert!(required <= proof.min_speedup_x && proof.min_speedup_x <= proof.max_speedup_x);
            assert!(proof.max_speedup_x.is_finite());
        }
        Err(error) => assert!(!error.to_string().is_empty() && !error.kind().is_empty()),
    }
}

fn write_and_read(draw: &mut Draw<'_>) {
    let required = draw.float();
    let samples = draw.list(6, sample);
    let mut text = String::new();
    write_csv(&mut text, &samples).expect("plain backend ids go into memory");
    // A value that does not equal itself has no text that reads back equal.
    let is_plain = |s: &Sample<'_>| {
        !(s.host_orchestrated_ns.is_nan()
            || s.resident_megakernel_ns.is_nan()
            || s.setup_ns.is_nan())
    };
    if !samples.is_empty() && samples.iter().all(is_plain) {
        let (read, given) = (verify_csv(&text, required), verify(&samples, required));
        if required.is_nan() {
            assert!(read.is_err() && given.is_err());
        } else {
            assert_eq!(read, given);
        }
    }
    let name = String::from_utf8_lossy(&[draw.byte(), draw.byte(), draw.byte()]).into_owned();
    let named = Sample {
        backend_id: &name,
        ..sample(draw)
    };
    let mut text = String::new();
    match write_csv(&mut text, [&named]) {
        Ok(()) => assert_eq!(text.lines().count(), 2),
        Err(CsvError::UnwritableBackendId { index }) => assert_eq!(index, 0),
        Err(CsvError::Sink) => panic!("memory takes all"),
    }
}

fn sample(draw: &mut Draw<'_>) -> Sample<'static> {
    Sample {
        backend_id: BACKEND,
        device_ordinal: draw.long(),
        device_memory_bytes: (16 << 30) - u64::from(draw.byte() == 0),
        compute_capability_major: 7 + u32::from(draw.byte() % 8),
        compute_capability_minor: draw.word(),
        graph_nodes: 10_000 | draw.long(),
        graph_edges: 80_000 | draw.long(),
        repetitions: 64 | draw.long(),
        host_orchestrated_ns: draw.float(),
        resident_megakernel_ns: draw.float(),
        setup_ns: draw.float(),
        timed_graph_uploads: u64::from(draw.byte() == 0xFF),
        timed_host_allocations: 0,
        timed_host_syncs: 0,
    }
}
