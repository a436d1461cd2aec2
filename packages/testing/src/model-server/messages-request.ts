import { asBlocks, asText, contentText, type ModelRequest } from './model-request.ts';

type Parsed = Pick<ModelRequest, 'model' | 'stream' | 'userText' | 'systemText' | 'tools' | 'toolResults' | 'historyText'>;

/** Reads the body of `POST /v1/messages`. */
export function parseMessagesRequest(body: Record<string, unknown>): Parsed {
  const messages = asBlocks(body.messages);
  const newest = messages.findLast((message) => message.role === 'user')?.content;
  return {
    model: asText(body.model),
    stream: body.stream === true,
    userText: newestText(newest),
    systemText: contentText(body.system),
    tools: asBlocks(body.tools).map((tool) => ({ name: asText(tool.name), kind: asText(tool.type) || 'custom' })),
    toolResults: asBlocks(newest)
      .filter((block) => block.type === 'tool_result')
      .map((block) => contentText(block.content)),
    historyText: messages.map((message) => contentText(message.content)).join('\n'),
  };
}

/** The last text of a message: before it may stand an earlier message that was never answered, after it reminders of the client. */
function newestText(content: unknown): string {
  const texts = typeof content === 'string' ? [content] : asBlocks(content).map((block) => asText(block.text));
  return texts.findLast((text) => text !== '' && !text.startsWith('<system-reminder>')) ?? '';
}
