import { expect, test } from 'vitest';
import { plain } from '../terminal.ts';
import { renderTargets, toSendRequest } from './send.ts';

test.each([
  [{}, { channel: 'chatroom', target: '42', text: 'hi' }],
  [{ instance: true }, { instance_id: 'chatroom', target: '42', text: 'hi' }],
  [
    { file: '/f.png', kind: 'photo' },
    { channel: 'chatroom', target: '42', caption: 'hi', path: '/f.png', kind: 'photo' },
  ],
])('turns %j into a request', (options, request) => {
  expect(toSendRequest('chatroom', '42', 'hi', options)).toEqual(request);
});

test('lists the instances through which messages can be sent', () => {
  const outbound = { kinds: ['text', 'photo'], target: { required: true, label: 'Chat' } };
  const text = renderTargets(
    [
      { instance_id: 'messenger', channel: 'messenger', name: 'Family', enabled: false, outbound },
      { instance_id: 'compat', channel: 'compat', name: 'API', enabled: true, outbound: false },
    ],
    plain,
  );
  expect(text).toContain('  messenger  messenger (Family, stopped), target: Chat, takes text, photo');
  expect(text).not.toContain('compat');
  expect(renderTargets([], plain)).toContain('No connector');
});
