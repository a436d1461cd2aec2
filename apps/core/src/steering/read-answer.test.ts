import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AnswerField, AnswerForm } from '@svc/contract/triage.ts';
import { readAnswer, toJsonSchema } from './read-answer.ts';

const form: AnswerForm = {
  kind: { type: 'string', enum: ['bug', 'question'] },
  urgent: { type: 'boolean' },
  labels: { type: 'strings', enum: ['ui', 'core'], max: 2, optional: true },
};
const read = (said: unknown) => readAnswer(form, typeof said === 'string' ? said : JSON.stringify(said));

test('reads an answer with or without text and a code fence around it, and drops unknown fields', () => {
  const answer = { kind: 'bug', urgent: true };
  expect(read({ ...answer, more: 1, __proto__: 2 })).toEqual({ answer });
  expect(read(`Here you are:\n\`\`\`json\n${JSON.stringify(answer)}\n\`\`\``)).toEqual({ answer });
  expect(read({ ...answer, labels: null })).toEqual({ answer });
  expect(read({ ...answer, labels: ['ui'] })).toEqual({ answer: { ...answer, labels: ['ui'] } });
});

describe('rejected answer', () => {
  test.each([
    ['', 'it is not one JSON object'],
    ['I would say it is a bug.', 'it is not one JSON object'],
    ['[]', 'it is not one JSON object'],
    ['}{', 'it is not one JSON object'],
    [{ urgent: true }, '"kind" has to be a text'],
    [{ kind: 'Bug', urgent: true }, '"kind" has to be one of "bug", "question"'],
    [{ kind: 'bug', urgent: 'yes' }, '"urgent" has to be true or false'],
    [{ kind: 'bug', urgent: true, labels: 'ui' }, '"labels" has to be a list of texts'],
    [{ kind: 'bug', urgent: true, labels: ['ui', 'ui', 'ui'] }, '"labels" has more than 2 texts'],
    [{ kind: 'bug', urgent: true, labels: ['ui', 5] }, '"labels" has to be a text'],
  ])('%j: %s', (said, problem) => {
    expect(read(said)).toEqual({ problem });
  });

  test('integers and numbers are checked, and infinite ones rejected', () => {
    const numbers: AnswerForm = { count: { type: 'integer' }, share: { type: 'number' } };
    expect(readAnswer(numbers, '{"count":3,"share":0.5}')).toEqual({ answer: { count: 3, share: 0.5 } });
    expect(readAnswer(numbers, '{"count":3.5,"share":0.5}')).toEqual({ problem: '"count" has to be a whole number' });
    expect(readAnswer(numbers, '{"count":1e999,"share":1}')).toEqual({ problem: '"count" has to be a whole number' });
  });
});

const field = fc.record<AnswerField>({
  type: fc.constantFrom('string', 'boolean', 'integer', 'number', 'strings'),
  optional: fc.boolean(),
});
const forms = fc.dictionary(fc.constantFrom('a', 'b', 'constructor', 'to_string'), field, { minKeys: 1 });

test('an answer read from random text has only the fields of its form, and all required ones', () => {
  fc.assert(
    fc.property(
      forms,
      fc.oneof(
        fc.json(),
        fc.string(),
        forms.map((some) => JSON.stringify(some)),
      ),
      (some, said) => {
        const result = readAnswer(some, said);
        if ('problem' in result) return;
        expect(Object.keys(result.answer).filter((name) => !Object.hasOwn(some, name))).toEqual([]);
        for (const [name, { optional }] of Object.entries(some))
          expect(Object.hasOwn(result.answer, name) || optional === true).toBe(true);
      },
    ),
  );
});

test('toJsonSchema() describes the form to the model', () => {
  expect(toJsonSchema(form)).toEqual({
    type: 'object',
    required: ['kind', 'urgent'],
    additionalProperties: false,
    properties: {
      kind: { type: 'string', enum: ['bug', 'question'], maxLength: 1000, description: undefined },
      urgent: { type: 'boolean', description: undefined },
      labels: { type: 'array', items: { type: 'string', enum: ['ui', 'core'] }, maxItems: 2, description: undefined },
    },
  });
});
