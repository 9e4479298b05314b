"""The words that requests to forget are made of, in all languages: they don't tell what is to be forgotten."""

from __future__ import annotations

from adk_memorybank.generation.lexicon.language import words

REQUESTING = words(
    "forget forgot delet eras remov wip clear drop rid get everyth anyth all said say tell told mention thing stuff "
    "about want don rather please know remember memory memori sav stor record keep kept bit whol "
    "dimentica cancella cancellare elimina togli tutto quello detto cosa storia favore voglio ricordi ricordare memoria "
    "borra olvida quita elimina bórrame todo dije dicho conté tenga ver favor quiero guardado quede recuerdes memoria "
    "efface oublie supprime enlève vire tout concerne parle dit histoire stp veux mémoire garde "
    "lösch lösche vergiss streich entferne alles erzählt gesagt sache bitte rausnehmen raus zu tun hat "
    "apaga esquece tira deleta remove tudo contei disse aquilo lance favor quero guardado memória "
    "消し して 削除 忘れ 全部 話は 記録 こと "
    "删了 删掉 忘掉 忘了 抹掉 全都 都删 记录 那件 件事 别记 别留"
)
