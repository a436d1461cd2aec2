import { describe, expect, test } from 'vitest';
import { flattenTools, restoreCalls } from './shim-tools.ts';

const namespace = {
  type: 'namespace',
  name: 'mcp__kit',
  tools: [{ type: 'function', name: 'echo', defer_loading: true, parameters: {} }],
};

describe('flattenTools()', () => {
  test('converts a namespaced tool to a function, and omits a hosted tool', () => {
    const { body } = flattenTools({ tools: [namespace, { type: 'web_search' }, { type: 'function', name: 'shell' }] });
    expect(body.tools).toEqual([
      { type: 'function', name: 'mcp__kit__echo', parameters: {} },
      { type: 'function', name: 'shell' },
    ]);
  });

  test('converts a free-text tool to a function with one text', () => {
    const { body } = flattenTools({ tools: [{ type: 'custom', name: 'apply_patch', format: { type: 'grammar' } }] });
    expect(body.tools).toMatchObject([{ type: 'function', name: 'apply_patch', parameters: { required: ['input'] } }]);
    expect(JSON.stringify(body)).not.toContain('grammar');
  });

  test('moves tools from the input to the tools of the request', () => {
    const { body } = flattenTools({ input: [{ type: 'additional_tools', tools: [namespace] }, { type: 'message' }] });
    expect(body.tools).toMatchObject([{ name: 'mcp__kit__echo' }]);
    expect(body.input).toEqual([{ type: 'message' }]);
  });

  test('renames earlier calls like the flattened tools', () => {
    const { body } = flattenTools({
      input: [
        { type: 'function_call', namespace: 'mcp__kit', name: 'echo', call_id: '1' },
        { type: 'custom_tool_call', name: 'apply_patch', call_id: '2', input: 'text' },
        { type: 'custom_tool_call_output', call_id: '2', output: 'ok' },
      ],
    });
    expect(body.input).toEqual([
      { type: 'function_call', name: 'mcp__kit__echo', call_id: '1' },
      { type: 'function_call', name: 'apply_patch', call_id: '2', arguments: '{"input":"text"}' },
      { type: 'function_call_output', call_id: '2', output: 'ok' },
    ]);
  });

  test('omits the tool choice when there are no tools', () => {
    const { body } = flattenTools({ tools: [{ type: 'web_search' }], tool_choice: 'auto', parallel_tool_calls: true });
    expect(body).not.toHaveProperty('tools');
    expect(body).not.toHaveProperty('tool_choice');
  });
});

describe('restoreCalls()', () => {
  const { names } = flattenTools({ tools: [namespace, { type: 'custom', name: 'apply_patch' }] });
  const restored = (call: object) => {
    const event = { item: { type: 'function_call', ...call } };
    restoreCalls(event, names);
    return event.item;
  };

  test.each(['mcp__kit__echo', 'mcp__kit.echo'])('splits %s into namespace and name', (name) => {
    expect(restored({ name, arguments: '{}' })).toEqual({
      type: 'function_call',
      namespace: 'mcp__kit',
      name: 'echo',
      arguments: '{}',
    });
  });

  test('restores the text of a free-text call', () => {
    expect(restored({ name: 'apply_patch', arguments: '{"input":"text"}' })).toEqual({
      type: 'custom_tool_call',
      name: 'apply_patch',
      input: 'text',
    });
  });

  test('keeps a name that was not offered', () => {
    expect(restored({ name: 'made_up', arguments: '' })).toMatchObject({ type: 'function_call', name: 'made_up' });
  });
});
