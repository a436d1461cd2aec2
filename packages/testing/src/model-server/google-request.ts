import { asBlocks, asText, contentText, isRecord, type ModelRequest } from './model-request.ts';

type Parsed = Pick<ModelRequest, 'model' | 'stream' | 'userText' | 'systemText' | 'tools' | 'toolResults' | 'historyText'>;

/** Reads the path and body of `POST /v1beta/models/<model>:<operation>`. */
export function parseGoogleRequest(path: string, body: Record<string, unknown>): Parsed {
  const contents = asBlocks(body.contents);
  const newest = asBlocks(contents.findLast((content) => content.role === 'user')?.parts);
  const [, model = '', operation = ''] = /\/models\/([^/:]+):(\w+)$/.exec(path) ?? [];
  return {
    model,
    stream: operation.startsWith('stream'),
    userText: newestText(newest),
    systemText: isRecord(body.systemInstruction) ? contentText(body.systemInstruction.parts) : '',
    tools: asBlocks(body.tools)
      .flatMap((tool) => asBlocks(tool.functionDeclarations))
      .map((tool) => ({ name: asText(tool.name), kind: 'function' })),
    toolResults: newest.flatMap((part) => (isRecord(part.functionResponse) ? [resultText(part.functionResponse.response)] : [])),
    historyText: contents.map((content) => contentText(content.parts)).join('\n'),
  };
}

/**
 * The last text the user wrote: before it may stand the client's own words on the session, or an earlier message that
 * was never answered; after it the files the client put in.
 */
function newestText(parts: Record<string, unknown>[]): string {
  const texts = parts.map((part) => asText(part.text));
  return texts.findLast((text) => text !== '' && !/^(<session_context>|\n(---|Content from))/.test(text)) ?? '';
}

/** What a tool gave back: its output or its error, and everything it sent where it is neither. */
function resultText(response: unknown): string {
  const { output, error } = isRecord(response) ? response : {};
  return asText(output ?? error) || JSON.stringify(response);
}
