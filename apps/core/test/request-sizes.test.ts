import { expect, onTestFinished, test } from 'vitest';
import type { ModelRequest } from '@svc/testing/model-server/model-request.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { openEngineCore } from './open-engine-core.ts';
import { envelope } from './open-test-core.ts';

/** The parts of a request that a model has to read. */
const parts = ['instructions', 'system', 'systemInstruction', 'tools', 'input', 'messages', 'contents'];
const sizeOf = ({ body }: ModelRequest) => parts.reduce((sum, name) => sum + JSON.stringify(body[name] ?? '').length, 0);

for (const id of ['claude', 'codex', 'gemini'] as const) {
  describeWithEngine(id, `what the model of ${id} has to read beside what people write`, async (install) => {
    test('is at most 2 KB for a title and 6 KB for a turn of a guest, with persona and facts', async () => {
      const { core, model, close } = await openEngineCore(id, install);
      onTestFinished(close);
      await core.addPrincipal('guest', 'guest');
      const asked = model.requests.length;
      const handled = await core.handle(envelope('hi', { sender: { raw_id: 'guest' }, conversation_key: 'compat:c1:guest' }));
      expect(handled.json(), handled.body).toMatchObject({ outcome: 'replied' });
      const titled = await core.app.inject({ method: 'POST', url: '/v2/title', payload: { text: 'hi' } });
      expect(titled.statusCode, titled.body).toBe(200);
      const [turn, title] = model.requests.slice(asked).map(sizeOf);
      expect(model.requests.slice(asked)).toHaveLength(2);
      expect(turn).toBeLessThanOrEqual(6 * 1024);
      expect(title).toBeLessThanOrEqual(2 * 1024);
    });
  });
}
