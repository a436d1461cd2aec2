import { afterEach, beforeEach, expect, test, vi, type MockInstance } from 'vitest';
import type { ServiceAnswer } from './service-client.ts';
import { showAnswer } from './show-answer.ts';

const help = { what: 'nothing was changed.', run: './svc folder' };
const render = ({ name }: { name: string }) => `It is ${name}.`;
const done: ServiceAnswer<{ name: string }> = { ok: true, body: { name: 'x' } };
const refused: ServiceAnswer<{ name: string }> = {
  ok: false,
  status: 409,
  body: { ok: false, error: 'conflict', message: 'It is taken.', request_id: 'req_1' },
};

let written: MockInstance<typeof process.stdout.write>;
beforeEach(() => void (written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)));
afterEach(() => written.mockRestore());
const printed = () => written.mock.calls.map(([text]) => text).join('');

test.each([
  ['rendered', done, {}, 0, 'It is x.\n'],
  ['as JSON', done, { json: true }, 0, '{\n  "name": "x"\n}\n'],
  ['as JSON also when it is a refusal', refused, { json: true }, 1, `${JSON.stringify(refused.body, null, 2)}\n`],
] as const)('an answer is printed %s', (_, answer, request, code, text) => {
  expect([showAnswer(answer, request, help, render), printed()]).toEqual([code, text]);
});

test('a rejected answer throws an error with what failed, why and what to run', () => {
  expect(() => showAnswer(refused, {}, help, render)).toThrow(
    expect.objectContaining({ message: 'nothing was changed.', why: 'It is taken.', run: './svc folder' }),
  );
  expect(printed()).toBe('');
});
