/** CRC-32 as of zlib and PNG, unsigned: the checksum of order books. */

const TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** The checksum of a text of ASCII letters. */
export function crc32(text: string): number {
  let value = 0xffffffff;
  for (let index = 0; index < text.length; index += 1) {
    value = (TABLE[(value ^ text.charCodeAt(index)) & 0xff] ?? 0) ^ (value >>> 8);
  }
  return (value ^ 0xffffffff) >>> 0;
}
