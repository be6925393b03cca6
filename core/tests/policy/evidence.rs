//! Evidence survives a round trip through text, and the reader handles any text.

use proptest::prelude::*;
use seawall_core::evidence::{
    COLUMNS, CsvError, EvidenceError, HEADER, Sample, verify, verify_csv, write_csv,
};

const SAMPLE: Sample<'static> = Sample {
    backend_id: "cuda",
    device_ordinal: 0,
    device_memory_bytes: 16 << 30,
    compute_capability_major: 8,
    compute_capability_minor: 0,
    graph_nodes: 10_000,
    graph_edges: 80_000,
    repetitions: 64,
    host_orchestrated_ns: 3e6,
    resident_megakernel_ns: 1e6,
    setup_ns: 0.0,
    timed_graph_uploads: 0,
    timed_host_allocations: 0,
    timed_host_syncs: 0,
};

prop_compose! {
    fn sample()(
        ordinal: u64, nodes in 1..u64::MAX, repetitions in 0..1u64 << 40,
        host: f64, resident in 1e-3..1e12f64, setup: f64,
        uploads in 0..2u64, minor: u32,
    ) -> Sample<'static> {
        Sample {
            device_ordinal: ordinal,
            graph_nodes: nodes,
            repetitions,
            host_orchestrated_ns: host.abs(),
            resident_megakernel_ns: resident,
            setup_ns: setup.abs(),
            timed_graph_uploads: uploads,
            compute_capability_minor: minor,
            ..SAMPLE
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn text_is_judged_like_the_samples_it_holds(
        samples in prop::collection::vec(sample(), 1..5), required in 1e-300..1e3f64,
    ) {
        let mut text = String::new();
        write_csv(&mut text, &samples).unwrap();
        let mut fields = text.lines().skip(1).flat_map(|row| row.split(','));
        let exponent_free = fields.all(|field| !field.contains(['e', 'E']));
        prop_assert!(exponent_free, "{}", text);
        prop_assert_eq!(verify_csv(&text, required), verify(&samples, required));
    }

    #[test]
    fn no_text_harms_the_reader(
        pieces in prop::collection::vec(prop_oneof![
            Just(HEADER.to_owned()), Just("\n".to_owned()), Just("\r\n".to_owned()),
            Just(",".to_owned()), Just("cuda".to_owned()), Just("1e400".to_owned()),
            Just("18446744073709551616".to_owned()), any::<String>(),
        ], 0..40),
    ) {
        let text: String = std::iter::once(HEADER).chain(pieces.iter().map(String::as_str)).collect();
        prop_assert!(verify_csv(&text, 1.0).is_err());
    }
}

#[test]
fn the_header_is_the_columns() {
    assert_eq!(HEADER, COLUMNS.join(","));
}

#[test]
fn an_infinite_ratio_of_finite_times_proves_nothing() {
    let sample = Sample {
        host_orchestrated_ns: f64::MAX,
        resident_megakernel_ns: f64::MIN_POSITIVE,
        ..SAMPLE
    };
    let error = EvidenceError::InvalidTiming { index: 0 };
    assert_eq!(verify(&[sample, SAMPLE], 1.0), Err(error));
}

#[test]
fn a_pasted_row_is_one_sample() {
    let error = EvidenceError::InsufficientSampleCount { sample_count: 1 };
    assert_eq!(verify(&[SAMPLE, SAMPLE, SAMPLE], 1.0), Err(error));
}

#[test]
fn a_backend_id_that_would_not_read_back_is_not_written() {
    for backend_id in ["a,b", "a\nb", "a\rb", " cuda"] {
        let samples = [
            SAMPLE,
            Sample {
                backend_id,
                ..SAMPLE
            },
        ];
        let error = write_csv(&mut String::new(), &samples).unwrap_err();
        assert_eq!(error, CsvError::UnwritableBackendId { index: 1 });
    }
}

#[test]
fn a_full_sink_is_an_error() {
    let mut sink = heapless::String::<64>::new();
    assert_eq!(write_csv(&mut sink, &[SAMPLE]), Err(CsvError::Sink));
}
