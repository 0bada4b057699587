//! Which file systems may hold the history: those of this host alone.
//!
//! SQLite's log needs memory that is shared between processes and locks that hold; on a network file system several hosts would
//! write one file with neither, and the historian would hang with the very storage that it is to tell about.

/// File systems by their magic number (statfs(2), `f_type`): linux/magic.h, and what the vendors' modules report.
const NETWORK_FILE_SYSTEMS: &[(u32, &str)] = &[
    (0x0000_6969, "NFS"),
    (0x0bd0_0bd0, "Lustre"),
    (0x4750_4653, "GPFS (Spectrum Scale)"),
    (0x1983_0326, "BeeGFS"),
    (0x00c3_6400, "CephFS"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x0000_517b, "SMB"),
    (0x6573_5546, "FUSE"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x7375_7245, "Coda"),
    (0x0102_1997, "9P"),
    (0x0000_564c, "NCP"),
    (0x0116_1970, "GFS2"),
    (0x7461_636f, "OCFS2"),
    (0x2003_0528, "OrangeFS"),
    (0xaad7_aaea, "PanFS"),
    (0x6163_6673, "ACFS"),
    (0x0131_11a8, "IBRIX"),
    (0xbeef_dead, "StorNext"),
    (0xbacb_acbc, "a VMware shared folder"),
    (0x786f_4256, "a VirtualBox shared folder"),
];

/// The name of the network file system with this `f_type`, if it is one.
pub(super) fn network_file_system(magic: u64) -> Option<&'static str> {
    // Only the lower half is defined; some architectures extend the sign of the 32-bit number.
    let magic = magic as u32;
    NETWORK_FILE_SYSTEMS.iter().find(|(known, _)| *known == magic).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_of_a_network_are_told_from_those_of_the_host() {
        for (magic, name) in [(0x6969, "NFS"), (0x0bd0_0bd0, "Lustre"), (0xffff_ffff_ff53_4d42, "CIFS")] {
            assert_eq!(network_file_system(magic), Some(name));
        }
        // ext4, xfs, btrfs, tmpfs, overlay, zfs, f2fs.
        for magic in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1, 0xf2f5_2010] {
            assert_eq!(network_file_system(magic), None, "{magic:#x}");
        }
    }

    #[test]
    fn no_magic_number_is_listed_twice() {
        let mut magics: Vec<u32> = NETWORK_FILE_SYSTEMS.iter().map(|(magic, _)| *magic).collect();
        magics.sort_unstable();
        magics.dedup();
        assert_eq!(magics.len(), NETWORK_FILE_SYSTEMS.len());
    }
}
