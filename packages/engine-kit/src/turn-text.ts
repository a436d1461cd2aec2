import type { Attachment } from '@svc/contract/envelope.ts';
import type { EngineRequest, ToolServer } from './engine.ts';
import { dataBlock, dataLine } from './prompt-blocks.ts';

/**
 * The user message as text. A session that begins while the channel knows a past gets that past first; files are named
 * by path, except those that are `shown` to the model itself.
 */
export function turnText(request: EngineRequest, options: { isNew: boolean; shown: readonly Attachment[] }): string {
  const past = options.isNew && request.transcript.length > 0 ? [transcriptText(request.transcript)] : [];
  const files = request.attachments.filter((file) => !options.shown.includes(file));
  const names = files.length > 0 ? [dataBlock('files', files.map(fileLine))] : [];
  return [...past, request.prompt, ...names].join('\n\n');
}

/** Images a model can look at. */
export const isImage = (file: Attachment): boolean => /^image\/(png|jpeg|gif|webp)$/.test(file.mime ?? '');

/** The tool servers this turn may use: none for talk, those marked safe for reading, all for everything. */
export function allowedToolServers({ toolPolicy, toolServers }: Pick<EngineRequest, 'toolPolicy' | 'toolServers'>): ToolServer[] {
  if (toolPolicy === 'none') return [];
  return toolPolicy === 'read' ? toolServers.filter((server) => server.safe) : toolServers;
}

/** Earlier messages as part of a prompt. */
export const transcriptText = (messages: EngineRequest['transcript']): string =>
  dataBlock(
    'earlier',
    messages.map(({ role, text }) => dataLine({ from: role, text })),
  );

const fileLine = ({ path, name, mime, bytes }: Attachment): string => dataLine({ path, name, mime, bytes });
