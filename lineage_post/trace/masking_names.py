"""Functions that hash, encrypt or redact what they are given, by their names in lower case.

Taken from the function references of the engines. A name that an engine has for another purpose
(``password`` is no function but on MySQL) is not in the way of a column of that name.
"""

from __future__ import annotations

#: Hashes and checksums of a value or of all rows.
_HASHES = frozenset(
    {
        "md4", "md5", "md5_hex", "md5_binary", "md5_digest", "md5_number", "md5_number_lower",
        "md5_number_upper", "md5_number_lower64", "md5_number_upper64", "md5sum", "md5sum_numeric",
        "halfmd5", "hash_md5", "sha", "sha1", "sha1_hex", "sha1_binary", "sha1_digest", "func_sha1",
        "sha2", "sha2_hex", "sha2_binary", "sha2_digest", "sha224", "sha256", "sha384", "sha512",
        "sha512_256", "hash_sha256", "sm3", "sm3sum", "blake3", "ripemd160", "keccak256",
        "hash", "hash_agg", "hashbytes", "hashamp", "hashrow", "spark_hash", "to_hex_hash",
        "strtol_hash", "xxhash32", "xxhash64", "xxhash_32", "xxhash_64", "xx_hash32", "xx_hash64",
        "xx_hash3_64", "xx_hash3_128", "xxh3", "xxh32", "xxh64", "xxh3_64", "xxh3_128", "rapidhash",
        "murmur3", "murmur3_32_hash", "murmur3_x64_128", "murmur_hash", "murmur_hash3_32",
        "murmur_hash3_64", "murmur_hash3_u64_v2", "murmurhash2_32", "murmurhash2_64",
        "murmurhash3_32", "murmurhash3_64", "murmurhash3_128", "murmurhash3_x64_128",
        "gccmurmurhash", "kafkamurmurhash", "spooky_hash_v2_32", "spooky_hash_v2_64", "siphash64",
        "siphash64keyed", "siphash128", "siphash128keyed", "siphash128reference",
        "siphash128referencekeyed", "cityhash64", "metrohash64", "farmhash64", "farmfingerprint64",
        "farm_fingerprint", "fnv_hash", "fnv1_32", "fnv1_64", "fnv1a", "fnv1a_32", "fnv1a_64",
        "inthash32", "inthash64", "javahash", "javahashutf16le", "hivehash", "iceberghash",
        "urlhash", "wyhash64", "jumpconsistenthash", "kostikconsistenthash", "yandexconsistenthash",
        "crc32", "crc32c", "crc32ieee", "crc64", "checksum", "checksum_agg", "binary_checksum",
        "standard_hash", "ora_hash", "dbms_crypto.hash", "dbms_crypto.mac",
        "dbms_utility.get_hash_value", "dbms_utility.get_sql_hash", "dbms_obfuscation_toolkit.md5",
        "crypto_hash", "crypto_hmac", "hmac", "hmac_md5", "hmac_sha1", "hmac_sha256",
        "hmac_sha512", "digest", "create_digest", "statement_digest", "crypt", "password",
        "old_password", "pwdencrypt", "uuid_generate_v3", "uuid_generate_v5", "generateuuidv5",
        "hashtext", "hashtextextended", "hash_array", "hash_array_extended", "hash_record",
        "hash_record_extended", "hash_numeric", "hash_numeric_extended", "hashint2", "hashint4",
        "hashint8", "hashint2extended", "hashint4extended", "hashint8extended", "hashfloat4",
        "hashfloat8", "hashfloat4extended", "hashfloat8extended", "hashbpchar",
        "hashbpcharextended", "hashvarlena", "hashname", "hashchar", "hashoid", "hashenum",
        "jsonb_hash", "uuid_hash", "timestamp_hash", "date_hash", "interval_hash",
    }
)  # fmt: skip
#: Functions that encrypt.
_CIPHERS = frozenset(
    {
        "encrypt", "encrypt_raw", "encrypt_iv", "aes_encrypt", "try_aes_encrypt",
        "aes_encrypt_mysql", "des_encrypt", "sm4_encrypt", "aead.encrypt", "deterministic_encrypt",
        "dlp_deterministic_encrypt", "asymmetric_encrypt", "asymmetric_sign", "pgp_sym_encrypt",
        "pgp_sym_encrypt_bytea", "pgp_pub_encrypt", "pgp_pub_encrypt_bytea", "encryptbypassphrase",
        "encryptbykey", "encryptbycert", "encryptbyasymkey", "signbycert", "signbyasymkey",
        "dbms_crypto.encrypt", "dbms_obfuscation_toolkit.desencrypt",
        "dbms_obfuscation_toolkit.des3encrypt",
    }
)  # fmt: skip
#: Functions that redact.
_REDACTIONS = frozenset(
    {
        "mask", "mask_hash", "mask_first_n", "mask_last_n", "mask_show_first_n",
        "mask_show_last_n", "mask_inner", "mask_outer", "mask_pan", "mask_pan_relaxed", "mask_ssn",
        "mask_canada_sin", "mask_iban", "mask_uk_nin", "mask_uuid", "ai_mask", "redact",
        "anonymize", "pseudonymize", "tokenize_pii",
    }
)  # fmt: skip

#: Whatever the dialect.
MASKING = _HASHES | _CIPHERS | _REDACTIONS
