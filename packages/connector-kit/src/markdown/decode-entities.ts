const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00A0' };

/** The character references that people and models write; others stay as they are. */
export const decodeEntities = (text: string): string =>
  text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi,
    (whole: string, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return named[name.toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return isCharacter(code) ? String.fromCodePoint(code) : '\uFFFD';
    },
  );

const isCharacter = (code: number): boolean => code > 0 && code <= 0x10_ffff && (code < 0xd800 || code > 0xdfff);
