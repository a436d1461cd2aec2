/**
 * Cuts where nothing that comes can change how the text before is read: at blank lines that a plain paragraph or a heading follows. Lists and quotes
 * stay whole. So a text that grows is never read again but for its last piece.
 */
export const piecesOf = (text: string): string[] =>
  text.split(/\n{2,}(?=#{1,6} |(?!\d+[.)]|[*+-]\s|\[)[\p{L}\p{N}*_`"'(])/u).map(detached);

/**
 * The same text, in memory of its own. What is cut from a text keeps all of it in memory: each piece of a reply that streams would keep the reply
 * as it was when the piece came.
 */
const detached = (piece: string): string => JSON.parse(JSON.stringify(piece)) as string;
