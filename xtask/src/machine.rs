//! On what a figure was measured, in a few words.

use std::fs;

/// CPU model and count, memory, kernel: `2 x Intel(R) Xeon(R) … , 8 GiB, Linux 6.18.0`.
pub fn description() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let (cpu, memory) = (read("/proc/cpuinfo"), read("/proc/meminfo"));
    let model = field(&cpu, "model name").unwrap_or("unknown CPU").to_owned();
    let kibibytes = field(&memory, "MemTotal").and_then(|value| value.split(' ').next()?.parse::<u64>().ok());
    let memory = kibibytes.map_or("unknown memory".to_owned(), |kibibytes| {
        format!("{:.0} GiB", kibibytes as f64 / f64::from(1 << 20))
    });
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = read("/proc/sys/kernel/osrelease");
    format!("{count} x {model}, {memory}, Linux {}", kernel.trim())
}

/// The value of the first `name : value` line.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let text = "model\t\t: 6\nmodel name\t: A CPU @ 2: fast\n";
        assert_eq!(field(text, "model name"), Some("A CPU @ 2: fast"));
        assert_eq!(field(text, "name"), None);
    }
}
