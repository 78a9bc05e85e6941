// RFC 3986, section 4.1, in its parts.
const plain = "[A-Za-z0-9\\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2}"
const segment = `(?:${plain}|[:@])*`
const segmentWithoutColon = `(?:${plain}|@)+`
const authority = `(?:(?:${plain}|:)*@)?(?:\\[[0-9A-Fa-f:.]+\\]|(?:${plain})*)(?::[0-9]*)?`
const rest = `(?:\\/${segment})*`
const absolute = `\\/\\/${authority}${rest}|\\/(?!\\/)${segment}${rest}`
const withScheme = `[A-Za-z][A-Za-z0-9+.\\-]*:(?:${absolute}|(?:${plain}|[:@])+${rest})?`
const withoutScheme = `(?:${absolute}|${segmentWithoutColon}${rest})?`
const queryOrFragment = `(?:${plain}|[:@/?])*`
const form = new RegExp(`^(?:${withScheme}|${withoutScheme})(?:\\?${queryOrFragment})?(?:#${queryOrFragment})?$`)

/**
 * A text as the URI-reference (RFC 3986) that CloudEvents wants a source to be: unchanged where it is one already, as
 * `billing`, `/shops/7` and `https://shop.example/orders?x=1` are; else percent-encoded whole, as one segment of a path:
 * `décor shop` becomes `d%C3%A9cor%20shop`, and `decodeURIComponent` gives it back. No lone surrogates.
 */
export function uriReference(text: string): string {
  return form.test(text) ? text : encodeURIComponent(text)
}
