//! The calibration file: an accepted one has plausible costs and survives writing and reading.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use seawall::calibrate::Calibration;
use seawall::calibrate::store::Key;

static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let name = format!("seawall-fuzz-{}.json", std::process::id());
    std::env::temp_dir().join(name)
});

fuzz_target!(|bytes: &[u8]| {
    std::fs::write(&*FILE, bytes).expect("the temporary folder takes a file");
    let found = match Calibration::load_from(&FILE) {
        Ok(found) => found.expect("the file is there"),
        Err(error) => {
            assert!(
                error
                    .to_string()
                    .contains(FILE.to_str().expect("a plain name"))
            );
            return;
        }
    };
    let key = Key {
        device: "a device".to_owned(),
        driver: "12.9".to_owned(),
    };
    for threads in [1, 2, 16, u32::MAX] {
        let costs = found.costs(threads, Some(&key));
        assert!(costs.cpu.is_sane() && costs.gpu.is_sane());
    }
    found
        .save_to(&FILE)
        .expect("the temporary folder takes a file");
    let again = Calibration::load_from(&FILE).expect("what was written is a calibration");
    assert_eq!(again, Some(found));
});
