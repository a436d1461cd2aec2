/** Words in a charset, as bytes; `text`: their text, where it depends on the charset. */
export type CharsetWords = { charset: string; bytes: Buffer; text: string };

const table: [charset: string, hex: string, text: string][] = [
  ['us-ascii', '48656c6c6f', 'Hello'],
  ['utf-8', 'e4bda0e5a5bd20f09f918d20c3a9', '你好 👍 é'],
  ['UTF-8', 'c5bd6c75c5a56fc48d6bc3bd', 'Žluťočký'],
  ['iso-8859-1', '636166e9', 'café'],
  ['latin1', '636166e9', 'café'],
  ['iso-8859-2', 'ae6c75bb', 'Žluť'],
  ['iso-8859-5', 'bfe0d8d2d5e2', 'Привет'],
  ['iso-8859-7', 'c3e5e9dc', 'Γειά'],
  ['iso-8859-8', 'f9ece5ed', 'שלום'],
  ['iso-8859-9', 'fe6566', 'şef'],
  ['iso-8859-15', 'a4203130', '€ 10'],
  ['windows-1250', '8e6c759d6f75e86bfd', 'Žluťoučký'],
  ['windows-1251', 'cff0e8e2e5f2', 'Привет'],
  ['windows-1252', '636166e9209371948020', 'café “q”€'],
  ['windows-1253', 'c3e5e9dc', 'Γειά'],
  ['windows-1254', 'fe6566', 'şef'],
  ['windows-1255', 'f9ece5ed', 'שלום'],
  ['windows-1256', 'd3e1c7e3', 'سلام'],
  ['windows-1257', 'd0ede0', 'Šķą'],
  ['koi8-r', 'f0d2c9d7c5d4', 'Привет'],
  ['koi8-u', 'f0d2c9d7a6d4', 'Привіт'],
  ['iso-2022-jp', '1b244224332473244b2441244f1b2842', 'こんにちは'],
  ['shift_jis', '82b182f182c982bf82cd', 'こんにちは'],
  ['euc-jp', 'a4b3a4f3a4cba4c1a4cf', 'こんにちは'],
  ['gb2312', 'c4e3bac3', '你好'],
  ['gbk', 'c4e3bac3', '你好'],
  ['gb18030', 'c4e3bac320 8130 8130'.replaceAll(' ', ''), '你好'],
  ['big5', 'a741a66e', '你好'],
  ['euc-kr', 'bec8b3e7', '안녕'],
  ['ks_c_5601-1987', 'bec8b3e7', '안녕'],
  ['windows-874', 'cac7d1cab4d5', 'สวัสดี'],
];

export const wordsInCharsets: readonly CharsetWords[] = table.map(([charset, hex, text]) => ({
  charset,
  bytes: Buffer.from(hex, 'hex'),
  text,
}));
