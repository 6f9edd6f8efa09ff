"""COCO's AP and AR of random boxes, computed by pycocotools: the expected numbers of structured/boxes/evaluator_test.go.

    python bench/coco_ap.py [--seed 1] [--cases 8] [--images 6] > structured/boxes/testdata/coco.json

Each case is a set of images with annotated objects (some of them crowds, or with an area smaller than their box) and detections: near
copies of objects, other boxes, several on one object, scores rounded to one decimal so that many are equal. Boxes are whole pixels, so that some
IoUs are exactly at a threshold. The stats are those that COCOeval.summarize prints. The script installs pycocotools from PyPI for itself.
"""

import argparse
import contextlib
import io
import json
import random
import subprocess
import sys

NAMES = ("ap", "ap50", "ap75", "ap_small", "ap_medium", "ap_large",
         "ar1", "ar10", "ar100", "ar_small", "ar_medium", "ar_large")


def draw_box(rng, largest):
    width, height = rng.randint(4, largest), rng.randint(4, largest)
    return [rng.randint(0, 300 - width), rng.randint(0, 300 - height), width, height]


def near(rng, box):
    x, y, width, height = box
    shift = lambda size: rng.randint(-(size // 6), size // 6)
    return [max(0, x + shift(width)), max(0, y + shift(height)), max(1, width + shift(width)), max(1, height + shift(height))]


def draw_image(rng, most, crowds):
    objects = []
    for _ in range(rng.randint(0, most)):
        box = draw_box(rng, rng.choice([30, 90, 250]))
        area = box[2] * box[3] * rng.choice([1, 1, 0.6])
        objects.append({"box": box, "area": area, "crowd": crowds and rng.random() < 0.2})
        if crowds and rng.random() < 0.3:  # a crowd around the object
            around = [max(0, box[0] - 9), max(0, box[1] - 9), box[2] + 30, box[3] + 30]
            objects.append({"box": around, "area": around[2] * around[3], "crowd": True})
    detections = []
    for o in objects:
        for _ in range(rng.choice([0, 1, 1, 2, 4])):
            box = o["box"] if rng.random() < 0.2 else near(rng, o["box"])
            if o["crowd"]:
                box = [box[0], box[1], max(1, box[2] // 2), max(1, box[3] // 2)]
            detections.append({"box": box, "score": round(rng.random() ** 0.5, 1)})
    for _ in range(rng.randint(0, 4)):
        detections.append({"box": draw_box(rng, 150), "score": round(rng.random(), 1)})
    rng.shuffle(detections)
    return {"objects": objects, "detections": detections}


def by_hand():
    """Images with one object and one detection whose IoUs are COCO's thresholds, up to rounding; and one where a crowd stands between two
    objects in the list, of which the first detection must take the second."""
    item = lambda height, crowd=False: {"box": [0, 0, 100, height], "area": 100 * height, "crowd": crowd}
    images = [{"objects": [item(100)], "detections": [{"box": [0, 0, 100, height], "score": round(height / 100, 1)}]}
              for height in range(50, 100, 5)]
    return images + [{"objects": [item(100), item(20, True), item(90)],
                      "detections": [{"box": [0, 0, 100, 88], "score": 0.9}, {"box": [0, 0, 100, 115], "score": 0.8}]}]


def stats(images):
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    gold = {"images": [{"id": k + 1} for k in range(len(images))], "categories": [{"id": 1}], "annotations": []}
    found = []
    for k, image in enumerate(images):
        for o in image["objects"]:
            gold["annotations"].append({"id": len(gold["annotations"]) + 1, "image_id": k + 1, "category_id": 1,
                                        "bbox": o["box"], "area": o["area"], "iscrowd": int(o["crowd"])})
        for d in image["detections"]:
            found.append({"image_id": k + 1, "category_id": 1, "bbox": d["box"], "score": d["score"]})
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = gold
        truth.createIndex()
        evaluation = COCOeval(truth, truth.loadRes(found), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return {name: float(value) for name, value in zip(NAMES, evaluation.stats)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=8)
    parser.add_argument("--images", type=int, default=6)
    options = parser.parse_args()
    try:
        import pycocotools  # noqa: F401
    except ImportError:
        subprocess.check_call([sys.executable, "-m", "pip", "install", "--quiet", "pycocotools"], stdout=sys.stderr)
    rng = random.Random(options.seed)
    cases = [{"images": by_hand(), "stats": stats(by_hand())}]
    for case in range(options.cases):
        images = [draw_image(rng, most=(1, 4, 12)[case % 3], crowds=case % 2 == 1) for _ in range(options.images)]
        if any(not o["crowd"] for i in images for o in i["objects"]) and any(i["detections"] for i in images):
            cases.append({"images": images, "stats": stats(images)})
    print("[" + ",\n".join(json.dumps(c) for c in cases) + "]")


if __name__ == "__main__":
    main()
