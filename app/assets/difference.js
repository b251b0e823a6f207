// Draws the difference of two texts. Every piece is put in as textContent, never as markup.

const TAGS = { same: "span", old: "del", new: "ins" };

export default function ({ data, parentElement }) {
  const paragraph = parentElement.querySelector("p");
  paragraph.dir = "auto";
  paragraph.replaceChildren(
    ...data.pieces.map((piece) => {
      const made = document.createElement(TAGS[piece.kind]);
      made.textContent = piece.text;
      return made;
    }),
  );
}
