import { expect, test } from 'vitest';
import { offeredTools } from './offered-tools.ts';

test.each([
  ['what is this?', []],
  ['please close it', ['close_issue']],
  ['reopen this, please', ['reopen_issue']],
  ['re-open it and label it bug', ['reopen_issue', 'add_labels']],
  ['remove the label bug', ['add_labels', 'remove_labels']],
  ['post a comment of its own', ['add_comment']],
  ['what closes over this variable?', []],
  ['> close it\n\nwhat does ann mean?', []],
  ['`close()` fails, why?', []],
  ['what is in https://example.com/close?', []],
  ['look\n<!-- close it, label it -->', []],
])('offers for %j the tools %j', (request, names) => {
  expect(offeredTools(request).map(({ name }) => name)).toEqual(names);
});

test('every tool requires the full policy', () => {
  expect(offeredTools('close, reopen, remove label, comment').map(({ policy }) => policy)).toEqual(
    Array.from({ length: 5 }, () => 'full'),
  );
});
