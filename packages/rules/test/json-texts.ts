import fc from 'fast-check'

const space = fc.stringMatching(/^[ \t\n\r]{0,2}$/)

/** Spellings of JSON numbers, also such as no double holds. */
export const numberText: fc.Arbitrary<string> = fc.oneof(
  fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,20})?([eE][+-]?\d{1,4})?$/),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.constantFrom('-0', '-0.0e5', '0e999999999999999999', '1e400', '1E-400', '9007199254740993', '0.000001', '1e21'),
)

/** Spellings of JSON strings: raw characters of any plane, every escape, lone surrogates and NUL as escapes. */
const stringText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 4 }).map((value) => JSON.stringify(value).slice(1, -1)),
      fc.constantFrom(
        '\\u0000',
        '\\ud800',
        '\\uDFFF',
        '\\/',
        '\\u0041',
        '\\\\',
        '\\"',
        '\u2028',
        '\u007f',
        '\ufeff',
        '}',
        ']',
        ',',
      ),
    ),
    { maxLength: 4 },
  )
  .map((parts) => `"${parts.join('')}"`)

const nameText = fc.oneof(
  stringText,
  fc.constantFrom(
    '"payload"',
    '"p\\u0061yload"',
    '"result"',
    '"__proto__"',
    '"constructor"',
    '"a"',
    '"b"',
    '"10"',
    '"9"',
    '""',
  ),
)

const spaced = (parts: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(space, parts, space).map(([before, text, after]) => before + text + after)

/** JSON texts with white space inside but none around, repeated names and names that envelopes use included. */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom('true', 'false', 'null'),
    numberText,
    stringText,
    fc.array(spaced(tie('value')), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(spaced(nameText), spaced(tie('value'))), { maxLength: 4 })
      .map((members) => `{${members.map(([name, value]) => `${name}:${value}`).join(',')}}`),
  ),
})).value

const SIGNS = [...'{}[]:,"\\ \n019-+.eEtfnul', '\\u', '\0', '\ufeff', '\u00a0', 'é']

/** Texts that differ from `text` in one place; well-formed, as text decoded from UTF-8 is. */
export function mutationsOf(text: string): fc.Arbitrary<string> {
  return fc
    .tuple(fc.nat({ max: text.length }), fc.constantFrom('', ...SIGNS), fc.constantFrom(0, 1))
    .map(([at, sign, removed]) => Buffer.from(text.slice(0, at) + sign + text.slice(at + removed)).toString())
}
