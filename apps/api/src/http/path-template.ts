/** The path of a route, `/v1/classes/{name}`, taken apart. */
export type PathTemplate = readonly string[]

/** Takes a template apart at its slashes. */
export function pathTemplate(path: string): PathTemplate {
  return path.split('/')
}

/**
 * What stands for the template's parameters in a path that was taken apart likewise, as it is (not decoded); null where
 * the path is another one. A parameter is one segment and never empty.
 */
export function matchTemplate(template: PathTemplate, segments: readonly string[]): Record<string, string> | null {
  if (template.length !== segments.length) return null
  const params: Record<string, string> = {}
  for (let at = 0; at < template.length; at++) {
    const part = template[at] as string
    const segment = segments[at]
    if (part.startsWith('{')) {
      if (!segment) return null
      params[part.slice(1, -1)] = segment
    } else if (segment !== part) {
      return null
    }
  }
  return params
}
