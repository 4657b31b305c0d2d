use super::*;

/// RFC 8032 section 7.1, test 1.
#[test]
fn a_known_seed_has_a_known_key() {
    let seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
    let public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    let bytes = |hex: &str| {
        let pairs = (0..32).map(|n| u8::from_str_radix(&hex[2 * n..2 * n + 2], 16).unwrap());
        <[u8; 32]>::try_from(pairs.collect::<Vec<_>>()).unwrap()
    };
    assert_eq!(*Identity::from_seed(&bytes(seed)).public_key().as_bytes(), bytes(public));
}

#[test]
fn a_file_is_made_once_and_read_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sub").join("key");
    let made = Identity::load_or_create(&path).unwrap();
    assert_eq!(Identity::load_or_create(&path).unwrap().public_key(), made.public_key());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_ne!(Identity::generate().unwrap().public_key(), made.public_key());
}

/// All that are begun at once have the key of the one that was first, and nothing else is left.
#[test]
fn many_that_begin_at_once_have_one_key() {
    let directory = tempfile::TempDir::new().unwrap();
    for round in 0..200 {
        let path = directory.path().join(round.to_string()).join("key");
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        let together = std::sync::Barrier::new(8);
        let keys: Vec<_> = std::thread::scope(|scope| {
            let load = || {
                together.wait();
                Identity::load_or_create(&path).map(|identity| identity.public_key())
            };
            let begun: Vec<_> = (0..8).map(|_| scope.spawn(load)).collect();
            begun.into_iter().map(|one| one.join().unwrap().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}

#[test]
fn other_files_are_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key");
    fs::write(&path, "").unwrap();
    allow(&path, 0o600);
    for text in ["", "whimbrel-private-key-1 abc", "-----BEGIN", "whimbrel-private-key-2 aaaa"] {
        fs::write(&path, text).unwrap();
        assert!(matches!(Identity::load_or_create(&path), Err(IdentityError::Form(_))), "{text}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    fs::write(&path, [0xff; 10]).unwrap();
    assert!(matches!(Identity::load_or_create(&path), Err(IdentityError::File { .. })));
}

#[test]
fn the_private_key_is_not_shown() {
    let identity = Identity::from_seed(&[1; 32]);
    assert_eq!(format!("{identity:?}"), format!("Identity({})", identity.public_key()));
}

/// Somebody else may know the key, or have put it there.
#[cfg(unix)]
#[test]
fn a_key_that_others_may_read_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key");
    Identity::load_or_create(&path).unwrap();
    for mode in [0o640, 0o604, 0o620] {
        allow(&path, mode);
        let refused = Identity::load_or_create(&path).unwrap_err();
        assert!(refused.to_string().contains("chmod 600"), "{refused}");
    }
    allow(&path, 0o400);
    assert!(Identity::load(&path).is_ok());
}

fn allow(path: &std::path::Path, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
}
