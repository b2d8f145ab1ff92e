/**
 * SHA-256 of a text's UTF-8, after FIPS 180-4. The browser's own lives in `crypto.subtle`, which a page
 * on a classroom's plain http does not have. Pure.
 */

/** Fractional bits of the cube roots (K) and square roots (H) of the first primes, computed once. */
const { K, H } = constants();

/** @param {string} text @returns {string} 64 hexadecimal digits */
export function sha256(text) {
  const words = padded(new TextEncoder().encode(text));
  const hash = Uint32Array.from(H);
  const w = new Uint32Array(64);
  for (let at = 0; at < words.length; at += 16) {
    w.set(words.subarray(at, at + 16));
    for (let i = 16; i < 64; i += 1) w[i] = n(w, i - 16) + small(n(w, i - 15), 7, 18, 3) + n(w, i - 7) + small(n(w, i - 2), 17, 19, 10);
    mix(hash, w);
  }
  return Array.from(hash, (word) => word.toString(16).padStart(8, "0")).join("");
}

// Private

/** @param {Uint32Array} hash changed in place @param {Uint32Array} w */
function mix(hash, w) {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let i = 0; i < 64; i += 1) {
    const big1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
    const one = (h + big1 + ((e & f) ^ (~e & g)) + n(K, i) + n(w, i)) | 0;
    const big0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
    const two = (big0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => { hash[i] = n(hash, i) + word; });
}

/** @param {Uint8Array} bytes @returns {Uint32Array} with the end mark and the length, in blocks of 16 words */
function padded(bytes) {
  const blocks = Math.ceil((bytes.length + 9) / 64);
  const view = new DataView(new ArrayBuffer(blocks * 64));
  bytes.forEach((byte, i) => view.setUint8(i, byte));
  view.setUint8(bytes.length, 0x80);
  view.setUint32(blocks * 64 - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(blocks * 64 - 4, bytes.length * 8);
  return Uint32Array.from({ length: blocks * 16 }, (_, i) => view.getUint32(i * 4));
}

function constants() {
  /** @type {number[]} */
  const primes = [];
  for (let candidate = 2; primes.length < 64; candidate += 1) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  /** @param {number} root */
  const fraction = (root) => Math.floor((root - Math.floor(root)) * 2 ** 32);
  return { K: Uint32Array.from(primes, (p) => fraction(Math.cbrt(p))), H: Uint32Array.from(primes.slice(0, 8), (p) => fraction(Math.sqrt(p))) };
}

/** @param {Uint32Array} words @param {number} i */
const n = (words, i) => /** @type {number} */ (words[i]);

/** @param {number} word @param {number} by */
const turn = (word, by) => (word >>> by) | (word << (32 - by));

/** @param {number} word @param {number} a @param {number} b @param {number} shift */
const small = (word, a, b, shift) => turn(word, a) ^ turn(word, b) ^ (word >>> shift);
