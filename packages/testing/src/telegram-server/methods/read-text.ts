import { badRequest, type FormattedText, type MessageContent, type TelegramEntity } from '../api-types.ts';
import { addFoundEntities } from '../found-entities.ts';
import { fixEntities } from '../fix-entities.ts';
import { parseHtml } from '../parse-html.ts';
import type { Platform, SentText } from './method-table.ts';

const maxText = 4096;
const maxCaption = 1024;
const maxBytes = 32_768;

/** The text of a message. @throws ApiError */
export function readText(platform: Pick<Platform, 'note'>, sent: SentText): FormattedText {
  const { text = '' } = sent;
  if (text === '') throw badRequest('message text is empty');
  if (Buffer.byteLength(text) > maxBytes) throw badRequest('text is too long');
  const fixed = format(platform, sent);
  if (fixed.text === '') throw badRequest('message text is empty');
  if (fixed.text.length > maxText) throw badRequest('message is too long');
  return fixed;
}

type SentCaption = { caption?: string; parse_mode?: string; caption_entities?: TelegramEntity[] };

/** The caption of a file as fields of its message; no fields when it is empty. @throws ApiError */
export function readCaption(
  platform: Pick<Platform, 'note'>,
  sent: SentCaption,
): Pick<MessageContent, 'caption' | 'caption_entities'> {
  const { caption = '', parse_mode, caption_entities } = sent;
  if (caption.trim() === '') return {};
  const { text, entities } = format(platform, { text: caption, parse_mode, entities: caption_entities });
  if (text.length > maxCaption) throw badRequest('message caption is too long');
  return { caption: text, ...(entities.length > 0 && { caption_entities: entities }) };
}

function format({ note }: Pick<Platform, 'note'>, { text = '', parse_mode = '', entities = [] }: SentText): FormattedText {
  if (/\p{Surrogate}/u.test(text)) throw badRequest('strings must be encoded in UTF-8');
  const { faults, ...fixed } = fixEntities(parse(note, text, parse_mode, entities));
  for (const fault of faults) note(fault);
  return addFoundEntities(fixed);
}

function parse(note: Platform['note'], text: string, mode: string, entities: TelegramEntity[]): FormattedText {
  if (mode === '') return { text, entities };
  if (mode.toLowerCase() === 'html') return parseHtml(text);
  note(`parse_mode ${mode}: this server knows HTML alone`);
  throw badRequest('unsupported parse_mode');
}
