import fc from 'fast-check';
import { expect, test } from 'vitest';
import { workedMs } from '@svc/testing/worked-ms.ts';
import { cutQuote } from './cut-quote.ts';

const quoted = '> What is it?\n> Ann';

test.each([
  ['a line of Gmail', `It is blue.\n\nOn Tue, 3 Nov 2026 at 10:00, Ann <ann@x.example> wrote:\n\n${quoted}`],
  [
    'a line that is broken',
    `It is blue.\n\nOn Tue, 3 Nov 2026 at 10:00, Ann With A Long Name\n<ann@x.example> wrote:\n\n${quoted}`,
  ],
  ['German', `It is blue.\n\nAm 03.11.2026 um 10:00 schrieb Ann:\n${quoted}`],
  ['French', `It is blue.\n\nLe 3 nov. 2026 à 10:00, Ann a écrit :\n${quoted}`],
  ['Outlook', 'It is blue.\n\nFrom: Ann <ann@x.example>\nSent: Tuesday\nTo: Bob\nSubject: Colour\n\nWhat is it?'],
  ['an original message', 'It is blue.\n\n-----Original Message-----\nWhat is it?'],
  ['a quote alone', `It is blue.\n${quoted}`],
  ['Windows line ends', `It is blue.\r\n\r\nOn Tue, 3 Nov 2026 at 10:00, Ann wrote:\r\n> a\r\n`],
  ['a signature below the quote', `It is blue.\n${quoted}\n-- \nBob`],
])('cuts the quoted message: %s', (_name, text) => {
  expect(cutQuote(text).kept).toBe('It is blue.');
});

test.each([
  ['Spanish', 'El mar, 3 nov 2026 a las 10:00, Ann (<ann@x.example>) escribió:'],
  ['Norwegian', 'tir. 3. nov. 2026 kl. 10:00 skrev Ann <ann@x.example>:'],
  ['Polish', 'W dniu 3.11.2026 o 10:00, Ann pisze:'],
  ['Russian', 'вт, 3 нояб. 2026 г. в 10:00, Ann <ann@x.example>:'],
  ['Turkish', 'Ann <ann@x.example>, 3 Kas 2026 Sal, 10:00 tarihinde şunu yazdı:'],
  ['Japanese', '2026年11月3日(火) 10:00 Ann <ann@x.example>:'],
  ['Chinese', 'Ann <ann@x.example> 于2026年11月3日周二 10:00写道：'],
  ['Finnish, broken', 'ti 3. marrask. 2026 klo 10.00 Ann\n<ann2@x.example> kirjoitti:'],
])('cuts the line above a quote in %s', (_name, head) => {
  expect(cutQuote(`It is blue.\n\n${head}\n${quoted}`).kept).toBe('It is blue.');
  expect(cutQuote(`It is blue.\n\n${head}\n\n${quoted}`).kept).toBe('It is blue.');
});

test.each([
  ['Swedish', 'Från: Ann <ann@x.example>\nSkickat: den 3 november\nTill: Bob\nÄmne: Färg'],
  ['Danish', 'Fra: Ann\nSendt: 3. november\nTil: Bob\nCc: Eve\nEmne: Farve'],
  ['Italian', 'Da: Ann\nInviato: martedì\nA: Bob\nOggetto: Colore'],
  ['Spanish', 'De: Ann\nEnviado el: martes\nPara: Bob\nAsunto: Color'],
  ['Dutch', 'Van: Ann\nVerzonden: dinsdag\nAan: Bob\nOnderwerp: Kleur'],
  ['Polish', 'Od: Ann\nWysłano: wtorek\nDo: Bob\nTemat: Kolor'],
  ['Russian', 'От: Ann\nОтправлено: вторник\nКому: Bob\nТема: Цвет'],
  ['Japanese', '差出人: Ann\n送信日時: 2026\n宛先: Bob\n件名: 色'],
  ['bold', '*From:* Ann <ann@x.example>\n*Sent:* Tuesday\n*To:* Bob\n*Subject:* Colour'],
])('cuts the header block of Outlook in %s', (_name, fields) => {
  expect(cutQuote(`It is blue.\n\n${fields}\n\nWhat is it?`).kept).toBe('It is blue.');
  expect(cutQuote(`It is blue.\n${'-'.repeat(40)}\n${fields}\n\nWhat is it?`).kept).toBe('It is blue.');
});

test('cuts a signature and returns it separately', () => {
  expect(cutQuote('Hello\n-- \nBob\nACME')).toEqual({ kept: 'Hello', quoted: '', signature: 'Bob\nACME' });
});

test.each([
  ['answers between quotes', '> one?\nyes\n> two?\nno'],
  ['a line that only reads like a head', 'On Monday in the office Bob wrote:\nnothing at all'],
  ['a list with dashes', 'a\n- b\n-- c'],
  ['a line with a time before what it is about', 'These are the trains of 3.11.2026 after 10:00:\nthe 10:15 and the 10:40'],
  ['a line with a time at the end', 'Look at the files of 3.11.2026 10:00:'],
  ['a journey', 'Book this:\nDa: Roma\nA: Milano\nData: 3 novembre\n\nTwo people.'],
])('keeps %s', (_name, text) => {
  expect(cutQuote(text).kept).toBe(text);
});

test('keeps every word of any text in one of its parts', () => {
  const line = fc.oneof(
    fc.string(),
    fc.constantFrom('> q', '-- ', '', 'On Tue, 3 Nov 2026 Ann wrote:', 'From: a@b', 'Sent: x', 'To: y'),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
      const text = lines.join('\n');
      const { kept, quoted: cut, signature } = cutQuote(text);
      const words = (of: string) => of.replaceAll(/\s+|^-- ?$/gm, '').length;
      expect(words(kept) + words(cut) + words(signature)).toBe(words(text));
    }),
  );
});

test.each([
  ['quotes with an answer below them', `${'> \n'.repeat(100_000)}no`],
  ['heads without a quote', 'On Tue, 3 Nov 2026 Ann wrote:\n'.repeat(20_000)],
  ['empty lines', `${'>\n\n'.repeat(50_000)}no`],
])('takes linear time for a mail of %s', (_what, text) => {
  const since = workedMs();
  expect(cutQuote(text).quoted).toBe('');
  expect(workedMs() - since).toBeLessThan(2000);
});
