/** A write of less costs more than it carries. UTF-16 units, each 1 to 3 bytes. */
const chunkMinChars = 64 * 1024

/**
 * A body of texts that are made when they are asked for, so that whoever reads slowly is waited for. `ended` is called
 * once, with what was thrown where a text could not be made: the answer is cut off then, as its status was sent long ago.
 * A reader that leaves ends the making of texts, after the one that is being made.
 */
export function streamTexts(
  texts: AsyncGenerator<string>,
  ended: (fault: { error: unknown } | null) => void,
): ReadableStream<Uint8Array> {
  let isOver = false
  const end = (fault: { error: unknown } | null): void => {
    if (!isOver) ended(fault)
    isOver = true
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { text, done } = await nextChunk(texts)
          if (isOver) return
          if (text !== '') controller.enqueue(Buffer.from(text))
          if (done) {
            controller.close()
            end(null)
          }
        } catch (error) {
          end({ error })
          throw error
        }
      },
      async cancel() {
        await texts.return(undefined)
        end(null)
      },
    },
    // Nothing is made before it is asked for.
    { highWaterMark: 0 },
  )
}

/** The next texts together, as many as make a write worth its cost; `done` with the last. */
export async function nextChunk(texts: AsyncGenerator<string>): Promise<{ text: string; done: boolean }> {
  let text = ''
  while (text.length < chunkMinChars) {
    const next = await texts.next()
    if (next.done === true) return { text, done: true }
    text += next.value
  }
  return { text, done: false }
}
