import { asBlocks, asText, contentText, type ModelRequest, type OfferedTool } from './model-request.ts';

type Parsed = Pick<ModelRequest, 'model' | 'stream' | 'userText' | 'systemText' | 'tools' | 'toolResults' | 'historyText'>;
type Item = Record<string, unknown>;

/** Reads the body of `POST /v1/responses`. */
export function parseResponsesRequest(body: Record<string, unknown>): Parsed {
  const items = typeof body.input === 'string' ? [{ type: 'message', role: 'user', content: body.input }] : asBlocks(body.input);
  const developer = items.filter((item) => item.role === 'developer' || item.role === 'system');
  return {
    model: asText(body.model),
    stream: body.stream === true,
    userText: contentText(items.findLast((item) => item.role === 'user')?.content),
    systemText: [asText(body.instructions), ...developer.map((item) => contentText(item.content))].join('\n'),
    // Newer models get their tools as an item of the input.
    tools: [
      ...asBlocks(body.tools),
      ...items.flatMap((item) => (item.type === 'additional_tools' ? asBlocks(item.tools) : [])),
    ].flatMap(toOfferedTools),
    toolResults: newestResults(items),
    historyText: items.map((item) => contentText(item.content)).join('\n'),
  };
}

/** Outputs at the end of the input: what came back since the model last spoke. */
function newestResults(items: Item[]): string[] {
  const lastOther = items.findLastIndex((item) => !isOutput(item));
  return items.slice(lastOther + 1).map((item) => (typeof item.output === 'string' ? item.output : contentText(item.output)));
}

const isOutput = (item: Item) => item.type === 'function_call_output' || item.type === 'custom_tool_call_output';

function toOfferedTools(tool: Item): OfferedTool[] {
  const kind = asText(tool.type);
  if (kind === 'namespace') {
    return asBlocks(tool.tools).map((inner) => ({ name: asText(inner.name), namespace: asText(tool.name), kind: 'function' }));
  }
  return [{ name: asText(tool.name) || kind, kind }];
}
