package embedded

import "strings"

// The words of pet names. They have only lower-case letters, so that a pet name is valid for strict naming rules.
var (
	petAdverbs = strings.Fields(`
		ably amply aptly boldly bravely briefly brightly briskly calmly candidly carefully cheerfully clearly cleverly
		closely daily dearly deeply deftly duly eagerly early easily evenly fairly faithfully famously firmly fluently
		fondly frankly freely freshly friendly fully gamely gently gladly gracefully grandly greatly happily heartily
		highly honestly humbly jointly jovially justly keenly kindly largely lightly likely lively loosely loudly
		loyally lucidly luckily merely merrily mildly mostly mutually nearly neatly newly nicely nimbly nobly notably
		openly overly partly patiently plainly playfully politely promptly properly proudly purely quickly quietly
		rarely readily really richly rightly safely sharply sincerely slightly smartly smoothly softly solely soundly
		steadily strongly suitably surely sweetly swiftly tenderly thoroughly tidily truly usually utterly vastly
		vividly warmly widely willingly wisely wonderfully`)
	petAdjectives = strings.Fields(`
		able active agile alert ample amber ancient apt arctic awake azure balanced bold brave breezy bright brisk calm
		candid caring cheerful chief civil classic clean clear clever cosmic cosy crisp curious dapper daring dashing
		decent deep deft direct divine driven eager early earnest easy elated elegant eternal even exact fair faithful
		famous fancy fast fearless fine firm fit fleet fluent fond frank free fresh frosty full funny gallant gentle
		genuine giddy glad gleaming golden good graceful grand grateful great happy hardy harmless hearty helpful
		heroic honest humble immense intense jolly jovial joyful keen kind known large lasting leading learned light
		likeable lively lofty loved loyal lucid lucky lunar magical major mellow merry mighty mild modern modest moral
		musical native neat new nice nimble noble notable open optimal patient peaceful perky placid playful pleasant
		poetic polite precise prime prompt proper proud pure quaint quick quiet radiant rapid rare ready regal regular
		relaxed rested rich ripe robust rosy round royal rustic sacred safe sane secure serene sharp shining silent
		silver simple sincere smart smiling smooth snug social soft solar solid sound special splendid stable starry
		steady sterling still stirring strong stunning sturdy subtle suited sunny super supreme swift tender thankful
		thorough tidy tolerant top touching tough tranquil true trusted unbiased upright useful valid valued vast
		verified versatile vital vivid warm welcome whole willing winning wise witty wonderful worthy young zesty`)
	petNames = strings.Fields(`
		adder albatross alpaca anchovy ant anteater antelope ape asp auk avocet badger barnacle bass bat beagle bear
		beaver bee beetle bison bluejay boar bobcat bonobo bream buck buffalo bullfinch bunting bustard butterfly
		buzzard camel canary capybara caribou carp cat caterpillar catfish cheetah chicken chickadee chimp chinchilla
		chipmunk cicada civet clam cobra cod collie condor coral corgi cougar cow cowrie coyote crab crane
		cricket crow cub cuckoo curlew dane deer dingo dodo dog dolphin donkey dormouse dove dragonfly drake duck
		dugong dunlin eagle earwig eel egret eland elephant elk emu falcon fawn ferret finch firefly flamingo flea fly
		foal fowl fox frog gannet gazelle gecko gerbil gibbon giraffe glider gnat gnu goat goldfinch goldfish goose
		gopher gorilla goshawk grackle grouper grouse grub gull guppy haddock halibut hamster hare hawk hedgehog hen
		heron herring hippo honeybee hornet horse hound husky hyena ibex ibis iguana impala jackal jackdaw jaguar jay
		jennet jerboa kangaroo katydid kestrel kid killdeer kingfisher kite kitten kiwi koala koi krill kudu ladybird
		lamb lamprey lapwing lark lemming lemur leopard linnet lion lionfish lizard llama lobster locust longspur loon
		lynx macaque macaw mackerel magpie mako mallard mammoth manatee mantis mantaray marlin marmoset marmot marten
		martin mastiff mayfly meerkat midge mink minnow mite mole mongoose monkey moose moth mouse mudskipper mule
		mullet muskrat mussel mustang narwhal newt nightjar nuthatch ocelot octopus okapi opossum orca oriole oryx
		osprey ostrich otter owl ox oyster panda pangolin panther parakeet parrot partridge peacock pelican penguin
		perch pheasant pig pigeon pika pike piglet pipit platypus plover pony poodle porpoise possum prawn ptarmigan
		puffin pug puma pup python quagga quail quetzal rabbit raccoon ram raptor ray raven redstart reindeer rhea
		rhino robin rodent rook rooster sable sailfish salamander salmon sandpiper sardine sawfish scallop seahorse
		seal serval shad shark sheep shepherd shiner shrew shrike shrimp siskin skate skink skunk skylark sloth slug
		snail snapper snipe sole spaniel sparrow spider spoonbill sprat squid squirrel stag starfish starling stingray
		stoat stork sturgeon sunbird swallow swan swift tadpole tahr tapir tarpon tarsier teal tern terrapin terrier
		thrush tiger titmouse toad tomcat tortoise toucan treefrog trout tuna turbot turkey turtle unicorn urchin
		viper vole vulture wagtail wallaby walleye walrus warbler wasp weasel weevil whale whelk whippet wildcat
		wolf wolverine wombat woodchuck woodcock worm wren yak zebra`)
)
