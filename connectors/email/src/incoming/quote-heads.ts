/** Lines with which mail programs introduce the quote of the answered mail. */
const answers =
  /^(on|am|le|el|il|op|den|em)\b.{6,300}\b(wrote|schrieb|a écrit|escribió|ha scritto|schreef|skrev|escreveu)\b.{0,200}:\s*$/i;
/** Lines with which they introduce a whole forwarded mail. */
const originals = new RegExp(
  `^-{2,}\\s*(${[
    'original message|forwarded message',
    'ursprüngliche nachricht|weitergeleitete nachricht',
    "message d'origine|message original|message transféré",
    'mensaje original|mensaje reenviado|mensagem original|mensagem encaminhada',
    'messaggio originale|messaggio inoltrato|oorspronkelijk bericht|doorgestuurd bericht',
    'ursprungligt meddelande|oprindelig meddelelse|opprinnelig melding|alkuperäinen viesti',
    'wiadomość oryginalna|původní zpráva|исходное сообщение|пересылаемое сообщение',
    '元のメッセージ|原始邮件|原始郵件|원본 메시지',
  ].join('|')})\\s*-{2,}$`,
  'i',
);
const rule = /^_{20,}$/;

/** Field names before a colon, in the languages of mail programs. */
const label = (...words: string[]): RegExp => new RegExp(`^[*_]*(?:${words.join('|')})[*_]*\\s*[:：]`, 'iu');
const from = label('from|von|de|da|van|från|fra|od|от|від|kimden|lähettäjä|feladó|από', '差出人|发件人|寄件者|寄件人|보낸 사람');
const subject = label(
  'subject|betreff|objet|asunto|assunto|oggetto|onderwerp|ämne|emne|temat|předmět|тема|konu|aihe|tárgy|θέμα',
  '件名|主题|主旨|제목',
);
const others = label(
  'sent|gesendet|date|datum|envoyé|enviad[oa](?: el| em)?|inviato|verzonden|skickat|sendt|wysłano|odesláno|data|fecha',
  'отправлено|дата|надіслано|gönderildi|tarih|lähetetty|päivämäärä|elküldve|dátum|στάλθηκε|送信日時|日時|发送时间|日期|寄件日期|보낸 날짜',
  'to|an|à|para|a|aan|till|til|do|komu|кому|kime|vastaanottaja|címzett|προς|宛先|收件人|收件者|받는 사람',
  'cc|kopie|kopia|копия|抄送|副本|참조',
);
/** Maximum number of lines of such a list of fields. */
const longestFields = 6;

/** Whether a whole mail, as it is forwarded, begins below this line. */
export const isOriginal = (line: string): boolean => originals.test(line.trim()) || rule.test(line.trim());

/**
 * Number of lines at this position that name the quoted author; 0 for none. Long ones are wrapped. The caller checks that a quote follows.
 */
export function headLength(lines: readonly string[], at: number): number {
  const [first = '', second = ''] = [lines[at]?.trim(), lines[at + 1]?.trim()];
  if (first.length > 400) return 0;
  if (isAnswered(first) || isOriginal(first)) return 1;
  if (second === '' || second.length > 400) return 0;
  const isBroken =
    answers.test(`${first} ${second}`) || (isDated(first) && !isAnswered(second) && isAnswered(`${first} ${second}`));
  return isBroken ? 2 : 0;
}

/** In any language: it ends with a colon, and contains a date and a sender or a time. */
const isAnswered = (line: string): boolean =>
  answers.test(line) ||
  (/[:：]$/.test(line) && (isDated(line) || (/\S@\S/.test(line) && /\d/.test(line.replaceAll(/\S*@\S*/g, '')))));
const isDated = (line: string): boolean => /(?<!\d)(19|20)\d\d(?!\d)/.test(line) && /(?<!\d)\d{1,2}[:.]\d\d(?!\d)/.test(line);

/** Outlook and others begin a quote with fields instead of a line. A person's own list may begin in the same way, but has no subject. */
export function isFields(lines: readonly string[], at: number): boolean {
  const first = lines[at]?.trim() ?? '';
  if (!from.test(first)) return false;
  const below = lines.slice(at + 1, at + longestFields).map((line) => line.trim());
  const end = below.findIndex((line) => line === '');
  const fields = end === -1 ? below : below.slice(0, end);
  const found = fields.filter((line) => others.test(line) || subject.test(line)).length;
  return found >= 2 && (first.includes('@') || fields.some((line) => subject.test(line)));
}

/** A line between an answer and the fields below it. */
export const isRule = (line: string): boolean => /^[-_]{10,}$/.test(line.trim());
