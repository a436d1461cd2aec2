import { expect, test } from 'vitest';
import { namedDocuments } from './named-documents.ts';
import { isResource } from './oauth-paths.ts';

const id = 'https://client.example/id';
const basic = (user: string) => `Basic ${btoa(`${user}:secret`)}`;
const named = (form: string, authorization?: string) =>
  namedDocuments({ headers: { ...(authorization !== undefined && { authorization }) } } as never, Buffer.from(form));

test('finds each client document in the form and in the header, once', () => {
  const form = new URLSearchParams([
    ['client_id', 'plain'],
    ['client_id', id],
    ['client_id', 'HTTPS://other.example/id'],
  ]).toString();
  expect(named(form)).toEqual([id, 'HTTPS://other.example/id']);
  expect(named('', basic(encodeURIComponent(id)))).toEqual([id]);
  expect(named(form, basic(encodeURIComponent(id)))).toEqual([id, 'HTTPS://other.example/id']);
  expect(named('', `bAsIc   ${basic(encodeURIComponent(id)).slice(6)}`)).toEqual([id]);
});

test.each([
  ['', undefined],
  ['client_id=plain', undefined],
  ['client_id=http://client.example/id', undefined],
  ['client_id=x https://client.example/id', undefined],
  ['redirect_uri=https://client.example/cb', undefined],
  ['', 'Bearer https://client.example/id'],
  ['', basic('plain')],
  ['', 'Basic'],
  ['', `x ${basic(encodeURIComponent(id))}`],
  ['', `${basic(encodeURIComponent(id))} x`],
  ['', basic(id)], // its colon ends the user name
])('finds none in %j with %j', (form, authorization) => {
  expect(named(form, authorization)).toEqual([]);
});

test.each([
  ['https://a.example/mcp', true],
  ['https://a.example/sse', true],
  ['HTTPS://A.example:443/mcp', true],
  ['https://a.example/mcp/', false],
  ['https://a.example/mcp?x', false],
  ['https://a.example/', false],
  ['https://a.example:8443/mcp', false],
  ['http://a.example/mcp', false],
  ['https://a.example.evil.example/mcp', false],
  ['https://user@a.example/mcp', false],
  ['nothing', false],
])('isResource(%s) is %s', (asked, isOurs) => {
  expect(isResource(asked, 'https://a.example')).toBe(isOurs);
});
