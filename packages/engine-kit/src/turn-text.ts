import path from 'node:path';
import type { Attachment } from '@svc/contract/envelope.ts';
import type { EngineRequest, TurnFile } from './engine.ts';
import { dataBlock, dataLine } from './prompt-blocks.ts';

/** How the model sees a turn's files: the images that it is shown, and the text of other files when it may open none. */
type Shown = { isNew: boolean; shown: readonly Attachment[]; texts?: ReadonlyMap<Attachment, string> };

/**
 * The user message as text. A new session in a channel with a history gets that history first. Files are named by path, except those that
 * are `shown` to the model itself, and except for callers who may open no files.
 */
export function turnText(request: EngineRequest, { isNew, shown, texts }: Shown): string {
  const past = isNew && request.transcript.length > 0 ? [transcriptText(request.transcript)] : [];
  const files = request.attachments.filter((file) => !shown.includes(file));
  const mayOpen = request.toolPolicy !== 'none';
  const names = files.map((file) => dataLine({ ...fileFields(file, mayOpen), text: texts?.get(file) }));
  return [...past, request.prompt, ...(names.length > 0 ? [dataBlock('files', names)] : [])].join('\n\n');
}

/** The request with its model: titles use the vendor's cheapest. A self-hosted server may have only the configured one. */
export const withTitleModel = (request: EngineRequest, baseUrl: string | null, titleModel: string): EngineRequest =>
  request.purpose === 'title' && baseUrl === null ? { ...request, model: titleModel } : request;

/** No model service takes a larger image, and a program that sends it holds it in memory several times. */
const maxImageBytes = 20_000_000;

/** An image that a model can see; an empty or huge file is not one, whatever its type says. */
export const isImage = ({ missing, bytes = 1, mime = '' }: TurnFile): boolean =>
  missing !== true && bytes > 0 && bytes <= maxImageBytes && /^image\/(png|jpeg|gif|webp)$/.test(mime);

/** Earlier messages as part of a prompt. */
export const transcriptText = (messages: EngineRequest['transcript']): string =>
  dataBlock(
    'earlier',
    messages.map(({ role, text }) => dataLine({ from: role, text })),
  );

/** A missing file cannot be opened, so it has no path. */
const fileFields = ({ path: file, name, mime, bytes, missing }: TurnFile, mayOpen: boolean): object =>
  mayOpen && missing !== true ? { path: file, name, mime, bytes } : { name: name ?? path.basename(file), mime, bytes, missing };
