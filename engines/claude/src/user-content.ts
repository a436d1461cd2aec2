import { readFile } from 'node:fs/promises';
import type { Attachment } from '@svc/contract/envelope.ts';
import type { EngineRequest } from '@svc/engine-kit/engine.ts';
import { shownTexts } from '@svc/engine-kit/shown-texts.ts';
import { isImage, turnText } from '@svc/engine-kit/turn-text.ts';
import type { ClaudeUserMessage, ImageBlock } from './claude-messages.ts';

/** Five megabytes of base64, the vendor's limit, less a little. */
const maxImageBytes = 3_700_000;

/** The user message: text, and the images that the model can look at. What cannot be shown is named by path. */
export async function toUserContent(request: EngineRequest, isNew: boolean): Promise<ClaudeUserMessage['message']['content']> {
  const images: { file: Attachment; block: ImageBlock }[] = [];
  for (const file of request.attachments.filter(isImage)) {
    const block = await readImage(file);
    if (block) images.push({ file, block });
  }
  const text = turnText(request, { isNew, shown: images.map(({ file }) => file), texts: await shownTexts(request) });
  return [{ type: 'text', text }, ...images.map(({ block }) => block)];
}

async function readImage({ path, mime }: Attachment): Promise<ImageBlock | null> {
  try {
    const bytes = await readFile(path);
    if (bytes.length > maxImageBytes || mime === undefined) return null;
    return { type: 'image', source: { type: 'base64', media_type: mime, data: bytes.toString('base64') } };
  } catch {
    return null; // gone or not readable: the model is told its path and can say so
  }
}
