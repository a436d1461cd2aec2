import { expect, test } from 'vitest';
import { readVendorRules } from './vendor-rules.ts';

const { generic, rules } = readVendorRules();
const random = 'A1b2C3d4E5f6G7h8I9j0';
const find = (id: string, text: string): string[] => {
  const rule = id === 'generic' ? generic : rules.find((each) => each.id === id);
  return (rule?.find(text) ?? []).map(({ from, to }) => text.slice(from, to));
};

test('a rule returns the position of the secret and the beginning of its name', () => {
  const text = `so api_key = "${random}" and`;
  expect(generic.find(text)).toEqual([{ from: 14, to: 34, kind: 'credential', nameFrom: 3 }]);
});

test('a token rule reports a token, others a credential', () => {
  const pat = `ghp_${random}${random.slice(0, 16)}`;
  const kinds = rules.find(({ id }) => id === 'github-pat')?.find(`${pat} `);
  expect(kinds).toMatchObject([{ kind: 'token', from: 0, to: 40 }]);
});

test('finds each secret in a text', () => {
  expect(find('generic', `api_key = "${random}"\nauth_token = "${random}z"\n`)).toEqual([random, `${random}z`]);
});

test.each([
  ['too little in it', 'github-pat', `ghp_${'a'.repeat(36)}`],
  ['a word that stands in no secret', 'generic', `api_key = "${random}abstract"`],
  ['a word that stands in no secret, in capitals', 'generic', `api_key = "${random}ABSTRACT"`],
  ['a word that no rule takes', 'generic', `api_key = "9abcdefghijklmnopqrstuvwxyz8"`],
  ['a secret that the rule knows to be none', 'aws-access-token', 'AKIAIOSFODNN7EXAMPLE '],
  ['a name that says something else', 'generic', `primary_key = "${random}"`],
  ['a template', 'generic', 'api_key = "{{ .Values.apiKey01 }}"'],
])('%s is not a secret', (_what, id, text) => expect(find(id, text)).toEqual([]));

test('ignores the context of other lines', () => {
  expect(find('generic', `primary_key = "x"\napi_key = "${random}"\n`)).toEqual([random]);
});
